"""The record of runs: what was set, when, by which code."""
