from vendor.pipelines import Copy, Pipeline, Script

empty = Script(name="empty", text="TRUNCATE TABLE sales.customers")
copy = Copy(name="copy", table="sales.customers")
pipeline = Pipeline(
    name="landing",
    description="Truncate landing.sales.customers, then load what the source holds.",
    activities=[empty, copy],
)
