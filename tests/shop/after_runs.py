"""The project of after/ run in one process, as the tests tell it: one line of JSON a run.

Each line of standard input holds the arguments of a run; an empty one ends the process.
"""

from __future__ import annotations

import json
import sys

from setpoint import run_project


def main(folder: str) -> None:
    """Run the project once for each line."""
    for line in sys.stdin:
        if not line.strip():
            return
        results = run_project(folder, checksum=True, **json.loads(line))
        sys.stdout.write(json.dumps([result.document() for result in results]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
