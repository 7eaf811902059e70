"""The server of `workbench view`: this machine alone, a new page when the file changes, errors beside the last page."""

import http.client
import json
import sys
import threading
import time

import pytest

from reports.page.view.runs import Runs, stamps
from reports.page.view.server import Server

MAKER = """
import pathlib, sys
out, file = sys.argv[sys.argv.index("-o") + 1], sys.argv[-1]
text = pathlib.Path(file).read_text()
if "wrong" in text:
    sys.exit("case.yaml, line 1: there is no such key")
if "long" in text:
    import time
    time.sleep(600)
pathlib.Path(out).write_text(f"<title>{text}</title>")
"""
PATIENCE = 60.0  # s that a state is waited for


@pytest.fixture
def viewed(tmp_path):
    """(file, runs, server) of a case whose page says its text."""
    (tmp_path / "maker.py").write_text(MAKER)
    file = tmp_path / "case.yaml"
    file.write_text("first")
    runs = Runs(str(file), (sys.executable, str(tmp_path / "maker.py")))
    server = Server(runs)
    runs.start()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield file, runs, server
    server.shutdown()
    thread.join()
    runs.stop()
    server.server_close()


def asked(server, path, host=None):
    """(status, headers, text) of a GET."""
    port = server.server_address[1]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{port}"})
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read().decode()


def until(runs, wanted):
    """The first state that is as wanted."""
    end = time.monotonic() + PATIENCE
    while not wanted(runs.state):
        assert time.monotonic() < end, runs.state
        time.sleep(0.02)
    return runs.state


def changed(file, text):
    """Write a file so that its stamp is another one, however coarse the clock of the file system."""
    before = stamps(str(file))
    while stamps(str(file)) == before:
        file.write_text(text)


def test_a_change_makes_a_new_page_and_an_error_keeps_the_last(viewed):
    file, runs, server = viewed
    until(runs, lambda s: s == (1, False, ""))
    assert asked(server, "/page?version=1")[2] == "<title>first</title>"
    changed(file, "quite wrong")
    until(runs, lambda s: s == (1, False, "case.yaml, line 1: there is no such key"))
    assert asked(server, "/page")[2] == "<title>first</title>"
    changed(file, "second one")
    until(runs, lambda s: s == (2, False, ""))
    assert json.loads(asked(server, "/state")[2]) == {"version": 2, "running": False, "message": ""}
    assert asked(server, "/page")[2] == "<title>second one</title>"


def test_a_change_ends_what_is_still_being_made(viewed):
    file, runs, _ = viewed
    until(runs, lambda s: s.version == 1)
    changed(file, "takes long")
    until(runs, lambda s: s.running)
    changed(file, "third of all")
    until(runs, lambda s: s == (2, False, ""))
    assert runs.page == b"<title>third of all</title>"


def test_it_answers_this_machine_by_its_own_name_alone(viewed):
    _, _, server = viewed
    port = server.server_address[1]
    assert server.server_address[0] == "127.0.0.1" and server.address.startswith(
        "http://127.0.0.1:"
    )
    assert asked(server, "/")[0] == 200 and asked(server, "/", f"localhost:{port}")[0] == 200
    for stranger in ("example.org", f"example.org:{port}", "127.0.0.1"):
        assert asked(server, "/state", stranger)[0] == 403, stranger
    for path in ("/etc/passwd", "/../case.yaml", "/page/", "/shell.js"):
        assert asked(server, path)[0] == 404, path


def test_the_shell_runs_its_own_script_alone(viewed):
    _, headers, text = asked(viewed[2], "/")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert text.count("<script") == 1 and "case.yaml" in text


def test_files_that_a_case_names_are_watched(tmp_path):
    file = tmp_path / "case.yaml"
    file.write_text("plant: {machine: own machine.yaml}\nrecord: sub/bench.csv\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "bench.csv").write_text("t,y\n")
    assert set(stamps(str(file))) == {str(file), str(tmp_path / "sub" / "bench.csv")}
    assert stamps(str(tmp_path / "none.yaml")) == {}
