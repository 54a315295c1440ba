import time
from pathlib import Path


def drop_old_downloads(folder: Path, days: int = 14) -> None:
    limit = time.time() - days * 86400
    for item in folder.glob("*.tmp"):
        if item.stat().st_mtime < limit:
            item.unlink()


class Cache:
    def __init__(self, ttl: float) -> None:
        self.ttl = ttl
        self.at = 0.0
        self.value = None

    def get(self, load):
        if time.time() - self.at > self.ttl:
            self.value, self.at = load(), time.time()
        return self.value
