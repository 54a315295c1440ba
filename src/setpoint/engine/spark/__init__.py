"""The Spark engine. The only place that imports pyspark."""
