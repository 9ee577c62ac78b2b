"""A server for one person on this machine: on the loopback address, with a random token, and nothing from elsewhere."""

import logging
import os
import shutil
import socket
import webbrowser
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread
from typing import Any
from uuid import uuid4

import marimo
import typer
import uvicorn
from starlette.responses import Response

from fim_private.cli.progress import say

HEADERS = [
    (b"content-security-policy", b"default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:"),
    (b"referrer-policy", b"no-referrer"),
]
"""The browser itself refuses every request to another place, and tells nobody the address, which holds the token."""


def serve(*, browser: bool) -> None:
    """Serve the page until the process is ended, print its address, and perhaps open it."""
    logging.disable()  # what marimo logs of an error may hold data
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()  # so that a browser can come before the page is ready
        here, token = f"127.0.0.1:{listening.getsockname()[1]}", uuid4().hex
        page = str(Path(__file__).with_name("page.py"))
        app = marimo.create_asgi_app(quiet=True, token=token).with_app(path="", root=page).build()
        typer.echo(f"http://{here}/?access_token={token}")
        say("Open this address on this machine, and keep it secret. Ctrl-C ends the desk; confirmed runs go on.")
        if browser:
            door = redirect_to(f"http://{here}/?access_token={token}")
            # In a thread, because a browser in a terminal would wait for the page, which is not served yet.
            Thread(target=webbrowser.open, args=(door.as_uri(),), daemon=True).start()
        config = uvicorn.Config(for_own_page_only(app, here), log_level="critical", timeout_graceful_shutdown=1)
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            if browser:
                shutil.rmtree(door.parent, ignore_errors=True)
            os._exit(0)  # marimo's threads would wait for open tabs; confirmed runs are processes of their own


def redirect_to(address: str) -> Path:
    """A page that only this user can read, leading to the address. All users can see what a browser is started with."""
    page = Path(mkdtemp(prefix="fim-private-")) / "desk.html"
    page.write_text(f'<meta http-equiv="refresh" content="0; url={address}">\n', encoding="utf-8")
    return page


def for_own_page_only(app: Any, here: str) -> Any:
    """The app, which refuses what another page asks for: it may reach this server under a name of its own."""

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        headers = {name: value.decode("latin-1") for name, value in scope.get("headers", ())}
        ours = headers.get(b"host") == here and headers.get(b"origin", f"http://{here}") == f"http://{here}"
        if ours or scope["type"] == "lifespan":
            await app(scope, receive, sent)
        elif scope["type"] == "http":
            await Response(status_code=403)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    return guarded
