import aiohttp
import requests


async def notify(session: aiohttp.ClientSession, order):
    await session.post("https://ship.example.com/api/dispatch", json=order)


def refund(api, payment):
    requests.post(f"{api}/refunds", json={"payment": payment["id"], "amount": payment["amount"]}, timeout=20)


def set_stock(api, sku, qty):
    requests.put(f"{api}/stock/{sku}", json={"qty": qty}, timeout=20)


def upload(url, path):
    with open(path, "rb") as handle:
        requests.put(url, data=handle, timeout=60)
