import requests


def finish(day, rows):
    requests.post("https://erp.example.com/hooks/settlement", json={"day": day, "rows": rows}, timeout=15)


def query_warehouse(base, token, sql):
    reply = requests.post(f"{base}/api/2.0/sql/statements", json={"statement": "SELECT 1"}, headers={"Authorization": token}, timeout=30)
    return reply.json()


def login(base, user, password):
    return requests.post(f"{base}/login", data={"user": user, "password": password}, timeout=10).cookies
