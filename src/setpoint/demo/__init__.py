"""The incident, told with real data and real kills."""
