import random
import time

import requests


def get(url, attempts=5):
    for attempt in range(attempts):
        reply = requests.get(url, timeout=20, headers={"User-Agent": random.choice(["a/1", "b/2"])})
        if reply.ok:
            return reply.json()
        time.sleep(2**attempt + random.random())
    raise RuntimeError(url)
