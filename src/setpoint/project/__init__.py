"""A project on disk: setpoint.toml and its task files, turned into tasks."""
