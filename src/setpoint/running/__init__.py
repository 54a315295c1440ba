"""Carrying out a plan: attempts, retries, outcomes."""
