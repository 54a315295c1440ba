def model(dbt, session):
    dbt.config(materialized="table")
    customers = dbt.ref("stg_customers")
    return customers.sample(fraction=0.1, seed=11)
