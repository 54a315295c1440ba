import httpx


def push_leads(leads):
    with httpx.Client(base_url="https://crm.example.com") as client:
        for lead in leads:
            client.post("/contacts", json=lead)
