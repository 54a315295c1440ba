"""Python source → units of work, without running any of it."""
