import requests

API = "https://pay.example.com/v1"


def charge_all(session, due):
    for bill in due:
        requests.post(f"{API}/charges", json={"account": bill.account, "amount": bill.amount}, timeout=30)


def charge_keyed(session, due):
    for bill in due:
        requests.post(
            f"{API}/charges",
            json={"account": bill.account, "amount": bill.amount},
            headers={"Idempotency-Key": f"bill-{bill.number}"},
            timeout=30,
        )
