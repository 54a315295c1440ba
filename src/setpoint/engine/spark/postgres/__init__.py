"""Postgres as a target and as a source."""
