"""Audit: which pipelines of a repository can be run twice."""
