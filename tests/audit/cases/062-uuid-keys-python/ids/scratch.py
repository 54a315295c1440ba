import logging
import tempfile
import uuid
from pathlib import Path

run_id = uuid.uuid4().hex
logging.info("run %s starts", run_id)


def download(client, key):
    target = Path(tempfile.gettempdir()) / f"part-{uuid.uuid4()}.csv"
    client.download_file("acme-raw", key, str(target))
    try:
        return target.read_text()
    finally:
        target.unlink()
