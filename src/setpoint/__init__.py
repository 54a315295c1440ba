"""Setpoint: data pipelines on Spark that are safe to run twice."""

__version__ = "0.1.0"
