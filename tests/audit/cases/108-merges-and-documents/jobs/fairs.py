import requests
from bs4 import BeautifulSoup
from pymongo import MongoClient

fairs = MongoClient("localhost").town.fairs
page = BeautifulSoup(requests.get("https://town.example/fairs").text, "html.parser")
for row in page.select("tr"):
    fairs.insert_one({"name": row.td.text})
for row in page.select("tr"):
    fairs.update_one({"name": row.td.text}, {"$set": {"seen": True}}, upsert=True)
