"""The terminal program in a browser: a child process a visitor, on this machine only by default."""

from __future__ import annotations

import shlex
import socket
import sys
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from textual_serve.server import Server

from advisor.parse import InputError, shown
from bench_runner.processes import module_command


def serve(store_path: Path, host: str = "127.0.0.1", port: int = 8000) -> None:
    """Serve until Ctrl+C. Raises InputError where the address cannot be used."""
    check_free(host, port)
    AdvisorServer(store_path, host, port).serve()


def check_free(host: str, port: int) -> None:
    """Raise InputError where nobody could listen there."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise InputError(
            f"the host {shown(host)} is not known: leave --host out to serve this machine only"
        ) from None
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as probe:
        # As the server itself does: an address is not taken by connections that just ended.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise InputError(
                f"port {port} on {host} cannot be used ({error.strerror}): "
                f"choose another, such as --port {port + 1 if port < 65535 else 8000}"
            ) from None


class AdvisorServer(Server):  # type: ignore[misc]  # it has no type hints to check against
    """Serves the program, and answers only its own pages."""

    def __init__(self, store_path: Path, host: str, port: int) -> None:
        command = [*module_command("advisor.tui.start"), str(store_path.absolute())]
        shown_host = f"[{host}]" if ":" in host else host
        super().__init__(
            shlex.join(command),
            host=host,
            port=port,
            title="GPU advisor",
            public_url=f"http://{shown_host}:{port}",
        )

    async def _make_app(self) -> web.Application:
        app: web.Application = await super()._make_app()
        app.middlewares.append(own_pages_only(self.host))
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Say where."""
        who = "this machine only" if is_loopback(self.host) else "everybody who reaches this host"
        print(f"advisor: open {self.public_url} ({who}); Ctrl+C ends it", file=sys.stderr)


def own_pages_only(host: str) -> Middleware:
    """Refuse requests that another site's page makes in the visitor's browser.

    Without this any page that is open beside could connect to the loopback address and type.
    """

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        called = urlsplit(f"//{request.host}").hostname or ""
        # A name that somebody else points at this machine is no name of ours.
        if is_loopback(host) and not is_loopback(called):
            raise web.HTTPForbidden(text=f"open this as http://{host} with its port")
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="this page is not of the GPU advisor")
        return await handler(request)

    return check


def is_loopback(host: str) -> bool:
    """Whether only this machine is meant."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
