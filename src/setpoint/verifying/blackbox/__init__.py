"""Verifying a command from outside: any script, in any language, by what it does to its tables."""
