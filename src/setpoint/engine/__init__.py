"""Where data moves. The protocol is here; Spark is one folder down."""
