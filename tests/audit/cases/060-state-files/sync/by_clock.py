import json
from datetime import datetime
from pathlib import Path

STATE = Path("state.json")


def run(api, sink):
    state = json.loads(STATE.read_text())
    for page in api.changed_since(state["last_run"]):
        sink.upsert(page)
    state["last_run"] = datetime.utcnow().isoformat()
    STATE.write_text(json.dumps(state))
