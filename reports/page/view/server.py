"""The server of `workbench view`: on 127.0.0.1 alone, for readers of this machine who ask it by that name.

    /            the shell, which asks for the state and shows the page below what is wrong
    /page        the newest page
    /state       {version, running, message}

Anything else is not found. A request that calls the server by another name (as a page of another site could, once its name
leads here) is refused.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from reports.page.document import digest
from reports.page.view.runs import Runs

HERE = Path(__file__).parent
ADDRESS = "127.0.0.1"
NAMES = (ADDRESS, "localhost")
WAITING = "<!doctype html><html lang=en><title>verifying</title><body></body></html>"


class Server(ThreadingHTTPServer):
    """Serves the pages of `runs` on `port` (0: any that is free)."""

    daemon_threads = True

    def __init__(self, runs: Runs, port: int = 0):
        self.runs = runs
        super().__init__((ADDRESS, port), Handler)

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        return f"http://{ADDRESS}:{self.server_address[1]}/"

    @property
    def names(self) -> set[str]:
        """Host names that requests to this server may carry."""
        return {f"{name}:{self.server_address[1]}" for name in NAMES}


class Handler(BaseHTTPRequestHandler):
    """Answers GET, says nothing on the terminal."""

    server: Server
    server_version = "fluidproof"
    sys_version = ""

    def do_GET(self) -> None:
        """One of three answers, see the module."""
        if self.headers.get("Host") not in self.server.names:
            return self._answer(403, "text/plain", b"this server answers to 127.0.0.1 alone\n")
        runs = self.server.runs
        match urlsplit(self.path).path:
            case "/":
                text, policy = shell(runs.file)
                self._answer(200, "text/html", text.encode("utf-8"), policy)
            case "/page":
                self._answer(200, "text/html", runs.page or WAITING.encode())
            case "/state":
                state = json.dumps(runs.state._asdict()).encode("ascii")
                self._answer(200, "application/json", state)
            case _:
                self._answer(404, "text/plain", b"not found\n")

    def _answer(self, code: int, kind: str, body: bytes, policy: str = "") -> None:
        self.send_response(code)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", f"{policy}frame-ancestors 'self'")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are no news."""


def shell(file: str) -> tuple[str, str]:
    """(the page around the page, its policy)."""
    style = _part("shell.css")
    script = _part("shell.js")
    text = Template(_part("shell.html")).substitute(
        title=escape(Path(file).name), style=style, script=script
    )
    policy = (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; "
        "connect-src 'self'; frame-src 'self'; img-src data:; base-uri 'none'; "
    )
    return text, policy


@cache
def _part(name: str) -> str:
    return (HERE / name).read_text("utf-8")
