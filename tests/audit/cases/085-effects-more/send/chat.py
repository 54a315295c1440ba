import requests

DISCORD = "https://discord.com/api/webhooks/1/abc"


def standings(text):
    requests.post(DISCORD, json={"content": text}, timeout=10)


def telegram(token, chat, text):
    requests.post(f"https://api.telegram.org/bot{token}/sendMessage", json={"chat_id": chat, "text": text}, timeout=10)
