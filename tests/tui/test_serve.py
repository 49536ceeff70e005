"""The program in a browser: a real server, a real child, on the loopback."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from advisor.parse import InputError
from advisor.tui.serve import check_free, is_loopback


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server(paper_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running server."""
    port = free_port()
    state = tmp_path_factory.mktemp("state") / "state.json"
    state.write_text('{"welcomed": true, "prices": "paper"}', encoding="utf-8")
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "advisor", "--store", str(paper_store)),
            *("serve", "--port", str(port)),
        ],
        env={**os.environ, "ADVISOR_STATE": str(state)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = process.stderr.readline()
    assert said == f"advisor: open http://127.0.0.1:{port} (this machine only); Ctrl+C ends it\n"
    address = f"127.0.0.1:{port}"
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            time.sleep(0.05)
    yield address
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) in (0, -signal.SIGINT, 130)


def test_the_page_opens(server: str) -> None:
    with urllib.request.urlopen(f"http://{server}/", timeout=20) as answer:
        assert answer.status == 200
        assert b"GPU advisor" in answer.read()


def test_it_listens_on_the_loopback_only(server: str) -> None:
    port = server.rpartition(":")[2]
    listening = Path("/proc/net/tcp")
    if not listening.exists():
        pytest.skip("needs /proc")
    local = [
        line.split()[1]
        for line in listening.read_text().splitlines()[1:]
        if line.split()[3] == "0A"
    ]
    assert [a for a in local if a.endswith(f":{int(port):04X}")] == [f"0100007F:{int(port):04X}"]


async def test_the_program_answers_through_the_websocket(server: str) -> None:
    seen = b""
    async with aiohttp.ClientSession() as session:
        url = f"ws://{server}/ws?width=120&height=40"
        async with session.ws_connect(url, origin=f"http://{server}") as socket_:
            async with asyncio.timeout(60):
                while b"Published times would put" not in seen:
                    received = await socket_.receive()
                    if isinstance(received.data, bytes):
                        seen += received.data
                    elif received.type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR):
                        raise AssertionError(f"the program ended: {seen[-500:]!r}")
    assert b"1 \xc3\x97 H100" in seen


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://elsewhere.example"}, {"Host": "elsewhere.example"}]
)
def test_other_sites_pages_are_refused(server: str, headers: dict[str, str]) -> None:
    request = urllib.request.Request(f"http://{server}/ws", headers=headers)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request, timeout=20)


def test_a_taken_port_is_one_line(server: str, paper_store: Path) -> None:
    port = server.rpartition(":")[2]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "advisor", "--store", str(paper_store)),
            *("serve", "--port", port),
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"port {port} on 127.0.0.1 cannot be used" in done.stderr
    assert "choose another, such as --port" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_unknown_host_is_one_line() -> None:
    with pytest.raises(InputError, match="is not known"):
        check_free("no-such-host.invalid", 8000)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("a.b", False)],
)
def test_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
