"""A receiver in a process of its own: counts what it does, by key, in memory.

`python -m bench.effect_receiver` prints its port. It acts on each POST: once for each key on
`/keyed`, every time on `/keyless`. `GET /counts` answers with what it did.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter

acted: dict[str, Counter[str]] = {"/keyed": Counter(), "/keyless": Counter()}
requests: Counter[str] = Counter()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, path, _ = head.split(" ", 2)
            lines = (line.partition(":") for line in head.split("\r\n")[1:])
            named = {name.lower(): value.strip() for name, _, value in lines}
            body = await reader.readexactly(int(named.get("content-length", 0)))
            answer = act(method, path, named.get("idempotency-key", ""), body)
            size = f"Content-Length: {len(answer)}"
            writer.write(f"HTTP/1.1 200 OK\r\n{size}\r\n\r\n".encode() + answer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def act(method: str, path: str, key: str, body: bytes) -> bytes:
    """Do what is asked, or tell what was done."""
    if method == "GET":
        counts = {name: sorted(Counter(c.values()).items()) for name, c in acted.items()}
        distinct = {name: len(c) for name, c in acted.items()}
        names = {name: dict(c) for name, c in acted.items()}
        answer = {"acted": counts, "distinct": distinct, "requests": requests, "by_key": names}
        return json.dumps(answer).encode()
    requests[path] += 1
    name = json.loads(body)["id"]
    if path == "/keyless" or not acted[path][key]:
        acted[path][key if path == "/keyed" else str(name)] += 1
    return b"{}"


async def main() -> None:
    """Listen until the process is ended."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(0)
