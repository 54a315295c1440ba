class Tables:
    def __init__(self, spark, bucket):
        self.spark, self.bucket = spark, bucket

    def path(self, folder, name):
        return f"s3a://{self.bucket}/{name}" if folder is None else f"s3a://{self.bucket}/{folder}/{name}"

    def save(self, frame, name, folder=None, mode="append"):
        frame.write.format("delta").mode(mode).save(self.path(folder, name))


def nightly(spark):
    orders = spark.table("raw.orders")
    orders.write.format("delta").mode("append").save("s3a://lake/orders")
