"""The terminal program in a browser: a child process a visitor, on this machine only by default.

Whoever may connect to a port may be anybody on this machine, so the address that is printed holds
a secret: the page and its connection are opened with it alone. Nothing comes from elsewhere.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import secrets
import select
import socket
import sys
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from string import Template
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import textual_serve
from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.log import server_logger
from aiohttp.typedefs import Handler
from aiohttp.web_protocol import RequestHandler
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from advisor.typed_input import InputError, shown
from bench_runner.launch.processes import (
    WATCHED_PARENT,
    child_environment,
    ending_signals,
    module_command,
)

MAX_VISITORS = 8
MAX_MESSAGE_BYTES = 256 * 1024
"""Of one message of a page; a longer paste ends its connection."""
MAX_STRANGERS = 200
"""Far below the files that a process may open."""
PATIENCE_S = 10.0
"""How long a connection may stay that has not shown the token."""
KEPT_ALIVE = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 6))
"""A machine that is gone is noticed by its system, two minutes later. No page is asked: a busy one
would be late with its answer, behind all that it has still to draw, and be taken for a dead one."""
_HOST = re.compile(r"[\w.\-]+(:\d{1,5})?|\[[0-9a-fA-F:.]+\](:\d{1,5})?", re.ASCII)
"""What the page and its policy may repeat; a browser sends nothing else."""
_STATIC = Path(textual_serve.__path__[0], "static")
_PAGE = Path(__file__).with_name("serve.html")
_SCRIPT = Path(__file__).with_name("serve.js")


def serve(store_path: Path, host: str = "127.0.0.1", port: int = 8000) -> None:
    """Serve until Ctrl+C. Raises InputError where the address cannot be used."""
    with suppress(KeyboardInterrupt):
        asyncio.run(AdvisorServer(store_path, host, port).serve())


class AdvisorServer:
    """Serves the program to those who know the token, and answers only its own pages."""

    def __init__(self, store_path: Path, host: str, port: int) -> None:
        self._command = [*module_command("advisor.tui.start"), str(store_path.absolute())]
        self._host, self._port = host, port
        self.token = secrets.token_urlsafe(24)
        self._downloads = DownloadManager()
        self._programs: dict[ServedProgram, OpenPage] = {}
        self._strangers: dict[RequestHandler, float] = {}
        """Connections that have not shown the token, the oldest first, and when each was opened."""

    async def serve(self) -> None:
        """Serve until Ctrl+C or SIGTERM; a second later nothing of it is left. Raises InputError
        where the address cannot be used."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        for number in ending_signals():
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, ended.set)
        server_logger.addFilter(_is_ours)  # not each line of what is no HTTP, in our terminal
        runner = web.AppRunner(
            self.application(), access_log=None, shutdown_timeout=0.3, keepalive_timeout=PATIENCE_S
        )
        await runner.setup()
        answers = runner.server
        assert answers is not None

        def connection() -> RequestHandler:
            handler: RequestHandler = answers()
            self._strangers[handler] = loop.time()
            self._end_strangers()
            return handler

        try:
            listening = await loop.create_server(connection, self._host, self._port)
            self._say_where()
            looking_after = asyncio.create_task(self._look_after())
            try:
                await ended.wait()
            finally:
                listening.close()
                looking_after.cancel()
        except (OSError, UnicodeError) as error:
            raise self._cannot_be_used(error) from None
        finally:
            await runner.cleanup()

    def _cannot_be_used(self, error: OSError | UnicodeError) -> InputError:
        host, port = self._host, self._port
        if isinstance(error, socket.gaierror | UnicodeError):  # no name of a machine holds these
            return InputError(
                f"the host {shown(host)} is not known: leave --host out to serve this machine only"
            )
        why = os.strerror(error.errno or 0)
        other = port + 1 if port < 65535 else 8000
        return InputError(
            f"port {port} on {host} cannot be used ({why}): choose another, such as --port {other}"
        )

    def _end_strangers(self) -> None:
        """End what stays open without the token, whether it is silent or asks again and again, and
        the oldest of too many: else somebody else of this machine could use up our files."""
        before = asyncio.get_running_loop().time() - PATIENCE_S
        for handler, opened in tuple(self._strangers.items()):
            if opened >= before and len(self._strangers) <= MAX_STRANGERS:
                break
            del self._strangers[handler]
            if handler.transport is not None:
                handler.transport.abort()

    async def _look_after(self) -> None:
        """End strangers, and each program whose page has hung up, however much of what it sent is
        still to be read."""
        while True:
            await asyncio.sleep(1)
            for page in self._programs.values():
                if page.task is not None and page.has_hung_up():
                    page.task.cancel()
            self._end_strangers()

    def application(self) -> web.Application:
        """What answers requests."""
        app = web.Application(middlewares=[self._check], client_max_size=64 * 1024)
        app.add_routes(
            [
                web.get("/", self._page),
                web.get("/ws/{token}", self._connection),
                web.get("/download/{key}", self._download),
                web.get("/static/serve.js", self._script),
                web.static("/static", _STATIC, show_index=False),
            ]
        )
        app.on_shutdown.append(self._end_all)
        return app

    def _say_where(self) -> None:
        shown_host = f"[{self._host}]" if ":" in self._host else self._host
        who = "this machine only" if is_loopback(self._host) else "everybody who knows it"
        print(
            f"advisor: open http://{shown_host}:{self._port}/?token={self.token} ({who}); "
            "Ctrl+C ends it",
            file=sys.stderr,
            flush=True,
        )

    async def _end_all(self, _: web.Application) -> None:
        for program in self._programs:
            program.terminate()
        closing = [
            page.socket.close(code=WSCloseCode.GOING_AWAY) for page in self._programs.values()
        ]
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.gather(*closing, return_exceptions=True), 0.3)
        for program in tuple(self._programs):
            program.close()

    # What is answered

    @web.middleware
    async def _check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse whoever does not know the token, and requests of other sites' pages."""
        try:
            try:
                self._refuse_strangers(request)
            except ValueError:
                raise web.HTTPBadRequest(text="this is no address") from None
            answer = await handler(request)
        except web.HTTPException as refusal:
            refusal.headers.update(_headers("'none'"))
            raise
        if not answer.prepared:
            answer.headers.update(_headers("'none'") | dict(answer.headers))
        return answer

    def _refuse_strangers(self, request: web.Request) -> None:
        if not _HOST.fullmatch(request.host):
            raise web.HTTPBadRequest(text="no host is called so")
        called = urlsplit(f"//{request.host}").hostname or ""
        # A name that somebody else points at this machine is no name of ours.
        if is_loopback(self._host) and not is_loopback(called):
            raise web.HTTPForbidden(text=f"open this as http://{self._host} with its port")
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="this page is not of the GPU advisor")
        given = request.match_info.get("token") or request.query.get("token", "")
        free = request.path.startswith(("/static/", "/download/"))  # a key is a secret of its own
        if not free and not secrets.compare_digest(given.encode(), self.token.encode()):
            raise web.HTTPForbidden(text="open the whole address that advisor serve printed")
        if not free:
            self._strangers.pop(request.protocol, None)

    async def _page(self, request: web.Request) -> web.Response:
        page = Template(_PAGE.read_text(encoding="utf-8")).substitute(
            # By the name that it was called by: localhost and 127.0.0.1 are two sites.
            websocket=f"ws://{request.host}/ws/{self.token}",
        )
        policy = (
            "'none'; script-src 'self'; font-src 'self'; img-src 'self' data:; "
            f"style-src 'self' 'unsafe-inline'; connect-src 'self' ws://{request.host}"
        )
        return web.Response(text=page, content_type="text/html", headers=_headers(policy))

    async def _script(self, _: web.Request) -> web.Response:
        """What gives the terminal the keys."""
        text = _SCRIPT.read_text(encoding="utf-8")
        return web.Response(text=text, content_type="text/javascript", headers=_headers("'none'"))

    async def _connection(self, request: web.Request) -> web.StreamResponse:
        if len(self._programs) >= MAX_VISITORS:
            raise web.HTTPServiceUnavailable(
                text=f"{MAX_VISITORS} pages are open already: close one"
            )
        try:
            size = checked_size(
                *(int(request.query.get(name, usual)[:9]) for name, usual in _USUAL_SIZE)
            )
        except ValueError:
            raise web.HTTPBadRequest(text="no terminal has this size") from None
        socket_ = web.WebSocketResponse(max_msg_size=MAX_MESSAGE_BYTES)
        program = ServedProgram(
            self._command,
            write_bytes=socket_.send_bytes,
            write_str=socket_.send_str,
            close=socket_.close,
            download_manager=self._downloads,
        )
        task = asyncio.current_task()
        assert task is not None
        _keep_alive(request.transport)
        page = self._programs[program] = OpenPage(socket_, task, request.transport)
        try:
            await socket_.prepare(request)
            await program.start(*size)
            await _follow(socket_, program)
        except (ConnectionError, OSError, RuntimeError):
            pass  # the page went away, or the program did
        finally:
            self._programs[program] = page._replace(task=None)  # what ends is not interrupted
            try:
                await program.end()
            finally:
                del self._programs[program]
                with suppress(Exception):
                    await socket_.close()
        return socket_

    async def _download(self, request: web.Request) -> web.StreamResponse:
        key = request.match_info["key"]
        try:
            found = await self._downloads.get_download_metadata(key)
        except KeyError:
            raise web.HTTPNotFound(text="there is no such file") from None
        self._strangers.pop(request.protocol, None)
        name = "".join(ch if ch.isalnum() or ch in "._-" else "_" for ch in found.file_name)
        answer = web.StreamResponse(
            headers={
                **_headers("'none'"),
                "Content-Type": "application/octet-stream",
                "Content-Disposition": f'attachment; filename="{name}"',
            }
        )
        await answer.prepare(request)
        async for chunk in self._downloads.download(key):
            await answer.write(chunk)
        await answer.write_eof()
        return answer


class OpenPage(NamedTuple):
    """A page and the task that follows it."""

    socket: web.WebSocketResponse
    task: asyncio.Task[Any] | None
    """None once its program is being ended."""
    transport: asyncio.Transport | None

    def has_hung_up(self) -> bool:
        """Whether the other end is gone: asyncio does not hear of it while it reads nothing, as
        after a flood that the program is still busy with."""
        plug = None if self.transport is None else self.transport.get_extra_info("socket")
        if plug is None or not hasattr(select, "poll"):
            return False
        look = select.poll()
        if plug.fileno() < 0:
            return True
        look.register(plug.fileno(), getattr(select, "POLLRDHUP", 0))
        return bool(look.poll(0))


def _keep_alive(transport: asyncio.Transport | None) -> None:
    """Have the system look whether the other end is still there."""
    plug = None if transport is None else transport.get_extra_info("socket")
    if plug is None:
        return
    for name, value in KEPT_ALIVE:
        with suppress(AttributeError, OSError):  # what a system lacks it has its own usual for
            plug.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether a fault is one of this program, and not of what somebody sent."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


_USUAL_SIZE = (("width", "80"), ("height", "24"))


async def _follow(socket_: web.WebSocketResponse, program: ServedProgram) -> None:
    """Hand on what the page sends until it, or the program, ends."""
    async for message in socket_:
        if message.type != WSMsgType.TEXT:
            continue
        try:
            sent = json.loads(message.data)
            if isinstance(sent, list) and sent[:1] == ["ping"]:
                await socket_.send_json(["pong", sent[1] if len(sent) > 1 else None])
            await program.take(sent)
        except (ValueError, RecursionError):
            await socket_.close(code=WSCloseCode.POLICY_VIOLATION, message=b"not from this page")
            return


def _headers(policy: str) -> dict[str, str]:
    return {
        "Content-Security-Policy": f"default-src {policy}; frame-ancestors 'none'; "
        "base-uri 'none'; form-action 'none'",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
        "Server": "advisor",
    }


def is_loopback(host: str) -> bool:
    """Whether only this machine is meant."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


MAX_COLUMNS, MAX_ROWS = 1000, 400
END_WITHIN_S = 2.0


class ServedProgram(AppService):  # type: ignore[misc]  # it has no type hints to check against
    """Starts the program without a shell, and leaves nothing of it running."""

    def __init__(self, command: list[str], **keywords: Any) -> None:
        super().__init__("", **keywords)
        self._words = command

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        environment = child_environment(super()._build_environment(width=width, height=height))
        return environment | {WATCHED_PARENT: str(os.getpid())}

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Any:
        process = await asyncio.create_subprocess_exec(
            *self._words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # A traceback, with the values of its variables, belongs on no terminal.
            stderr=asyncio.subprocess.DEVNULL,
            env=self._build_environment(width=width, height=height),
            start_new_session=True,
        )
        nothing = asyncio.StreamReader()
        nothing.feed_eof()
        process.stderr = nothing
        self._process, self._stdin = process, process.stdin
        return process

    async def take(self, message: object) -> None:
        """Hand on what the page sent. Raises ValueError where no page of ours sends it."""
        if not isinstance(message, list) or not message:
            raise ValueError(message)
        kind, value = message[0], message[1] if len(message) > 1 else None
        if kind == "stdin" and isinstance(value, str):
            await self.send_bytes(value.encode("utf-8", errors="replace"))
        elif kind == "resize" and isinstance(value, dict):
            width, height = value.get("width"), value.get("height")
            await self.set_terminal_size(*checked_size(width, height))
        elif kind == "blur":
            await self.blur()
        elif kind == "focus":
            await self.focus()
        elif kind != "ping":
            raise ValueError(message)

    async def end(self) -> None:
        """End the program, whether or not it answers."""
        process = self._process
        with suppress(Exception):
            await asyncio.wait_for(self.stop(), END_WITHIN_S)
        if process is not None and process.returncode is None:
            self.terminate()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(process.wait(), END_WITHIN_S)
        self.close()

    def close(self) -> None:
        """Let go of it; what has not ended is killed."""
        if self._process is not None:
            transport = getattr(self._process, "_transport", None)
            if transport is not None:
                transport.close()

    def terminate(self) -> None:
        """Ask it to end, without waiting."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.terminate()


def checked_size(width: Any, height: Any) -> tuple[int, int]:
    """Columns and rows of a terminal that somebody can see. Raises ValueError."""
    whole = type(width) is int and type(height) is int
    if not whole or not (0 < width <= MAX_COLUMNS and 0 < height <= MAX_ROWS):
        raise ValueError(width, height)
    return width, height
