import requests

QUERY = "query($day: Date!) { orders(day: $day) { id total } }"


def graphql(day):
    return requests.post("https://shop.example.com/graphql", json={"query": QUERY, "variables": {"day": day}}, timeout=30).json()


def search(es, day):
    body = {"query": {"term": {"day": day}}}
    return requests.post(f"{es}/orders/_search", json=body, timeout=30).json()["hits"]


def token(auth, secret):
    reply = requests.post(f"{auth}/oauth/token", data={"grant_type": "client_credentials", "client_secret": secret}, timeout=10)
    return reply.json()["access_token"]


def report(api, start, end):
    reply = requests.post(f"{api}/reports:runReport", json={"dateRanges": [{"startDate": start, "endDate": end}]}, timeout=60)
    return reply.json()["rows"]
