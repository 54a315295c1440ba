import json
from datetime import datetime
from pathlib import Path

STATE = Path("state.json")


def run(api, sink):
    state = json.loads(STATE.read_text())
    newest = state["cursor"]
    for page in api.changed_since(newest):
        sink.upsert(page)
        newest = max([newest, *(row["updated_at"] for row in page)])
    state["cursor"] = newest
    state["note"] = f"written by hand at {datetime.utcnow():%c}"
    STATE.write_text(json.dumps(state))
