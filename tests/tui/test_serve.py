"""The program in a browser: a real server, a real child, on the loopback."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import psutil
import pytest
import textual_serve

import advisor.tui.serve
from advisor.tui.serve import MAX_VISITORS, AdvisorServer, serve
from advisor.typed_input import InputError
from bench_runner.launch.processes import marked
from tests.bench_runner.test_safe_path import hostile_folder

TAG = "TESTS_STARTED_THIS_SERVER"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Served:
    """A running server: where it is and what its address holds."""

    def __init__(self, paper_store: Path, folder: Path, stands_in: Path | None = None) -> None:
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        state = folder / "state.json"
        state.write_text('{"prices": "paper"}', encoding="utf-8")
        self.tag = str(folder / uuid.uuid4().hex)
        self.process = subprocess.Popen(
            [
                # As the command `advisor` is started; -m would look in the folder for code.
                *(sys.executable, "-P", "-m", "advisor", "--store", str(paper_store)),
                *("serve", "--port", str(self.port)),
            ],
            cwd=stands_in,
            env={**os.environ, "ADVISOR_STATE": str(state), TAG: self.tag},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        found = re.fullmatch(
            rf"advisor: open http://{self.address}/\?token=([\w-]{{32}}) "
            r"\(this machine only\); Ctrl\+C ends it\n",
            said,
        )
        assert found is not None, said
        self.token = found[1]
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)

    def page(self, name: str = "127.0.0.1") -> str:
        return f"http://{name}:{self.port}/?token={self.token}"

    def connection(self, name: str = "127.0.0.1", size: str = "width=120&height=40") -> str:
        return f"ws://{name}:{self.port}/ws/{self.token}?{size}"

    def programs(self) -> list[int]:
        return [pid for pid in marked(TAG, self.tag) if pid != self.process.pid]


@pytest.fixture(scope="module")
def served(paper_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running server."""
    found = Served(paper_store, tmp_path_factory.mktemp("served"))
    yield found
    began = time.monotonic()
    # As a closed terminal does; Ctrl-C is tried below, with programs that answer nobody.
    found.process.send_signal(signal.SIGHUP)
    printed, said = found.process.communicate(timeout=20)
    assert time.monotonic() - began < 4
    assert printed == ""
    assert "Traceback" not in said
    assert found.process.returncode in (0, -signal.SIGINT, 130)


@pytest.fixture
def server(served: Served) -> str:
    return served.address


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_the_page_opens_and_fetches_nothing_from_elsewhere(served: Served, name: str) -> None:
    with urllib.request.urlopen(served.page(name), timeout=20) as answer:
        assert answer.status == 200
        text = answer.read().decode()
        headers = answer.headers
    assert "GPU advisor" in text
    assert f"ws://{name}:{served.port}/ws/{served.token}" in text
    assert re.findall(r"https?://", text) == []
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    for place in re.findall(r'(?:href|src)="(/static/[^"]+)"|url\("([^"]+)"\)', text):
        with urllib.request.urlopen(
            f"http://{name}:{served.port}{''.join(place)}", timeout=20
        ) as answer:
            assert answer.status == 200


@pytest.mark.parametrize(
    "path", ["/", "/?token=", "/?token=guess", "/ws/guess", "/ws?width=80", "/ws/", "/download/x"]
)
def test_without_the_token_nothing_is_opened(served: Served, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"http://{served.address}{path}", timeout=20)
    assert caught.value.code in (403, 404)
    assert served.token not in caught.value.read().decode()
    assert served.programs() == []


async def gone(served: Served, within_s: float = 30.0) -> None:
    deadline = time.monotonic() + within_s
    while served.programs():
        assert time.monotonic() < deadline, served.programs()
        await asyncio.sleep(0.1)


async def test_what_no_page_sends_ends_that_page_alone(served: Served) -> None:
    messages = [
        '["resize", {"width": 100000, "height": 40}]',
        '["stdin", "' + "x" * 3_000_000 + '"]',
        '["quit"]',
        "[" * 100_000,
        "not JSON",
    ]
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(served.connection()) as good,
    ):
        for message in messages:
            async with session.ws_connect(served.connection("localhost")) as bad:
                with suppress(ConnectionError, aiohttp.ClientError):  # closed while we still send
                    await bad.send_str(message)
                async with asyncio.timeout(20):
                    while not bad.closed:
                        await bad.receive()
                assert bad.close_code in (1006, 1008, 1009), message[:40]
        await good.send_str('["ping", "still there"]')
        async with asyncio.timeout(30):
            while (await good.receive()).data != '["pong", "still there"]':
                assert not good.closed
    await gone(served)


@pytest.mark.parametrize("size", ["width=100000&height=40", "width=0&height=1", "width=a&height=1"])
async def test_no_program_is_started_for_a_terminal_that_cannot_be(
    served: Served, size: str
) -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError, match="400"):
            await session.ws_connect(served.connection(size=size))


async def test_connections_that_say_nothing_are_ended_and_keep_nobody_out(
    paper_store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(advisor.tui.serve, "MAX_STRANGERS", 20)
    monkeypatch.setattr(advisor.tui.serve, "PATIENCE_S", 0.5)
    server = AdvisorServer(paper_store, "127.0.0.1", free_port())
    serving = asyncio.create_task(server.serve())
    while "token=" not in capsys.readouterr().err:
        await asyncio.sleep(0.02)
    sent = (b"", b"GET / HTTP/1.1\r\nHost: x", b"\0no HTTP\r\n\r\n", b"GET /?token=x HTTP/1.1\r\n")
    silent = []
    for n in range(60):
        reader, writer = await asyncio.open_connection("127.0.0.1", server._port)
        writer.write(sent[n % 4])
        silent.append((reader, writer))
    async with aiohttp.ClientSession() as session:
        page = f"http://127.0.0.1:{server._port}/?token={server.token}"
        async with session.get(page) as answer:
            assert answer.status == 200
        assert len(server._strangers) <= 20
        for reader, writer in silent:  # all of them hear that they are ended
            with suppress(ConnectionError):
                await asyncio.wait_for(reader.read(), 5)
            writer.close()
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving
    assert capsys.readouterr().err == ""


async def test_pages_are_limited(served: Served) -> None:
    async with aiohttp.ClientSession() as session:
        open_pages = [await session.ws_connect(served.connection()) for _ in range(MAX_VISITORS)]
        with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):
            await session.ws_connect(served.connection())
        for page in open_pages:
            await page.close()
    await gone(served, 15)


async def test_no_program_outlives_a_page_that_sends_a_flood_and_is_gone(served: Served) -> None:
    keys = '["stdin", "' + "\\u001b[B9" * 200 + '"]'
    async with aiohttp.ClientSession() as session:
        for _ in range(2):
            page = await session.ws_connect(served.connection())
            async with asyncio.timeout(60):
                await page.receive()  # it runs
            with suppress(TimeoutError, ConnectionError, aiohttp.ClientError):
                async with asyncio.timeout(3):
                    while True:
                        await page.send_str(keys)
            plug = page.get_extra_info("socket")
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            assert page._response.connection is not None
            page._response.connection.transport.abort()
    await gone(served, 8)
    async with aiohttp.ClientSession() as session, session.get(served.page()) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
async def test_no_program_outlives_its_server(
    paper_store: Path, tmp_path: Path, number: signal.Signals
) -> None:
    served = Served(paper_store, tmp_path)
    async with aiohttp.ClientSession() as session:
        pages = [await session.ws_connect(served.connection()) for _ in range(2)]
        async with asyncio.timeout(60):
            for page in pages:
                await page.receive()
        assert len(served.programs()) >= 2
        if number == signal.SIGINT:
            # Programs that answer nobody. What one has forked to read ahead ends by itself, but not
            # where it is stopped.
            for program in psutil.Process(served.process.pid).children():
                program.suspend()
        began = time.monotonic()
        served.process.send_signal(number)
        while served.process.poll() is None:
            await asyncio.sleep(0.02)
        # 0.3 to 0.5 s were seen, also with thirteen programs waiting for two cores.
        assert time.monotonic() - began < 1.5
        await gone(served)
        for page in pages:
            await page.close()


async def test_the_folder_that_serve_stands_in_is_no_code(
    paper_store: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "it-ran"
    folder = hostile_folder(tmp_path / "paper", trace)
    served = Served(paper_store, tmp_path, stands_in=folder)
    try:
        seen = b""
        async with aiohttp.ClientSession() as session, asyncio.timeout(60):
            page = await session.ws_connect(served.connection())
            while b"1 \xc3\x97 H100" not in seen:
                received = await page.receive()
                assert isinstance(received.data, bytes | str), seen[-300:]
                seen += received.data if isinstance(received.data, bytes) else b""
            await page.send_str('["stdin", "\\u001b[19~"]')  # F8: the solver's process, too
            await page.receive()
            await page.close()
        assert not trace.exists(), trace.read_text()
    finally:
        served.process.kill()
        served.process.communicate()


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


async def test_a_saved_table_is_downloaded(server: str, served: Served) -> None:
    """Keys arrive as the page sends them, and what is saved comes back as a file."""
    async with aiohttp.ClientSession() as session:
        url = served.connection()
        async with session.ws_connect(url, origin=f"http://{server}") as socket_:
            seen, key = b"", ""
            async with asyncio.timeout(60):
                while not key:
                    received = await socket_.receive()
                    if isinstance(received.data, bytes):
                        shown = b"1 \xc3\x97 H100" in seen
                        seen += received.data
                        if not shown and b"1 \xc3\x97 H100" in seen:
                            await socket_.send_json(["stdin", "e"])
                            await asyncio.sleep(1.0)
                            await socket_.send_json(["stdin", "\r"])
                    elif received.type is aiohttp.WSMsgType.TEXT:
                        kind, *rest = received.json()
                        key = rest[0] if kind == "deliver_file_start" else ""
                    else:
                        raise AssertionError(f"the program ended: {seen[-500:]!r}")
                async with session.get(f"http://{server}/download/{key}") as answer:
                    assert answer.status == 200
                    assert "attachment" in answer.headers["Content-Disposition"]
                    assert (await answer.text()).startswith("rank,group,gpu,gpu_count")


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_keys_work_without_a_click() -> None:
    """The page's script, in a page that is none: the terminal's field gets the focus on load."""
    script = Path(advisor.tui.serve.__file__).with_name("serve.js").read_text(encoding="utf-8")
    page = """
    const heard = {}; let focused = 0; const sent = [];
    globalThis.WebSocket = class {
        send(data) { sent.push(data); }
        addEventListener(name, act) { this.open = act; }
    };
    WebSocket.CONNECTING = 0;
    const listen = (name, act) => { heard[name] = act; };
    globalThis.window = { addEventListener: listen };
    globalThis.document = {
        body: {}, addEventListener: listen,
        querySelector: (what) =>
            what === ".xterm-helper-textarea" ? { focus: () => { focused += 1; } } : null,
    };
    """
    press = """
    heard.load(); heard.focus(); heard.keydown({ target: document.body });
    heard.keydown({ target: {} });
    const socket = new WebSocket();
    socket.readyState = 0; socket.send("early");
    const before = sent.length;
    socket.readyState = 1; socket.open(); socket.send("late");
    console.log(focused, before, sent.join(" "));
    """
    done = subprocess.run(
        ["node", "-e", page + script + press],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "3 0 early late", "nothing is sent before the connection stands"
    textual_js = Path(textual_serve.__path__[0], "static", "js", "textual.js")
    assert "xterm-helper-textarea" in textual_js.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://elsewhere.example"}, "403"),
        ({"Host": "elsewhere.example"}, "403"),
        ({"Host": "[::1"}, "400"),
        ({"Host": '127.0.0.1"><script>alert(1)</script>'}, "400"),
        ({"Host": "127.0.0.1:80; script-src *"}, "400"),
        ({"Origin": "http://[::"}, "400"),
    ],
)
def test_other_pages_are_refused_in_a_word(
    served: Served, headers: dict[str, str], status: str
) -> None:
    request = urllib.request.Request(served.page(), headers=headers)
    with pytest.raises(urllib.error.HTTPError, match=status) as refused:
        urllib.request.urlopen(request, timeout=20)
    assert b"script" not in refused.value.read()


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


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a\x9b31m"])
def test_an_unknown_host_is_one_line(paper_store: Path, host: str) -> None:
    with pytest.raises(InputError, match="is not known") as caught:
        serve(paper_store, host)
    assert str(caught.value).isprintable()
