"""``advisor serve``: the terminal program in a browser."""

from __future__ import annotations

import argparse

from advisor.cli.command import ANSWERED, store_path
from advisor.typed_input import InputError, shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add = parser.add_argument
    add("--port", default="8000", help="port to listen on (default: 8000)")
    add("--host", default="127.0.0.1", help="address (default: this machine only)")


def run(options: argparse.Namespace) -> int:
    """Serve until somebody stops it. Raises InputError."""
    from advisor.tui.serve import serve

    port = options.port
    if not (port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) < 65536):
        raise InputError(f"port {shown(port)} is not a number from 1 to 65535")
    serve(store_path(options), host=options.host, port=int(port))
    return ANSWERED
