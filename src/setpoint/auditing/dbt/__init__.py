"""Projects of dbt: models, configuration, macros, snapshots."""
