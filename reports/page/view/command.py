"""`workbench view FILE`."""

from __future__ import annotations

import webbrowser

from reports.page.view.runs import COMMAND, Runs
from reports.page.view.server import Server
from workbench.contract.errors import InputError


def run_view(options) -> int:
    """Serve the page of a case until Ctrl-C; errors in the file are shown on the page."""
    from workbench.commands import terminal

    if not 0 <= options.port < 65536:
        raise InputError(
            f"--port: {options.port} is no port", mend="give one between 1024 and 65535, or none"
        )
    settings = [word for pair in options.set for word in ("--set", pair)]
    runs = Runs(options.file, (*COMMAND, *settings))
    try:
        server = Server(runs, options.port)
    except OSError as why:
        raise InputError(
            f"--port: {options.port} cannot be had: {why.strerror}",
            mend="give another one, or none",
        ) from None
    terminal.say(f"{terminal.clean(options.file)} on {server.address}  (Ctrl-C ends)")
    runs.start()
    try:
        if not options.no_browser:
            webbrowser.open(server.address)
        server.serve_forever()
    except KeyboardInterrupt:
        terminal.say("ended")
    finally:
        runs.stop()
        server.server_close()
    return 0
