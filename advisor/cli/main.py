"""The command line: one command per question. Without a command, the terminal program opens.

stdout holds the answer alone, messages go to stderr. Imports are late: `rank` must not pay for what
it does not use.
"""

from __future__ import annotations

import argparse
import codecs
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from advisor.cli.command import (
    ANSWERED,
    CANCELLED,
    FORMATS,
    WRONG_INPUT,
    add_store,
    store_path,
)
from advisor.cli.safe_output import safe_output
from advisor.parse import InputError, parse_choice

COMMANDS = {
    "rank": "rank the machines that a budget can buy for one model",
    "data": "the evidence itself: times, predictions, settings, prices, GPUs, sources",
    "findings": "the paper's conclusions, computed anew beside what it says",
    "rebuild": "build the store from the text tables; your own rows are kept",
    "bench": "measure how long a model trains on this machine, and with which settings",
    "jobs": "measurements on a cluster or a rented GPU: list, follow, cancel, merge",
    "merge": "bring records or another store in; twice is the same as once",
    "export": "write your own times as a file that merge reads, or the paper's figures",
    "predict": "how long a model takes on GPUs that you do not have",
    "plan": "plan a grant: what to buy, rent and run, when, and its report",
    "prices": "quotes of your own and others; what can be built; owning against renting",
    "peers": "the GPUs that other academics have, beside yours",
    "doctor": "check this installation: store, terminal, GPUs, what a benchmark needs",
    "paths": "where the store and your settings lie",
    "serve": "open the terminal program in a browser (this machine only)",
}
"""What each does, in words; the module NAME_command does it."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see: {self.prog} --help)")


def build_parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Every command by name; with its flags where ``words`` call it."""
    parser = _Parser(
        prog="advisor",
        description="Which GPU machine to buy for the model you want to pre-train. "
        "Without a command, the terminal program opens.",
        epilog="Begin with: advisor rank --model pythia-1b --budget 40k",
    )
    add_store(parser)
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    # A dozen parsers are only made for somebody who is to choose among them.
    named = words[0] if words and words[0] in COMMANDS else None
    for name, text in COMMANDS.items():
        if named is not None and name != named:
            continue
        command = commands.add_parser(name, help=text, description=text)
        if name in words:
            add_store(command)
            _module(name).add_arguments(command)
    return parser


def _module(command: str) -> Any:
    return import_module(f"advisor.cli.{command}_command")


def entry() -> NoReturn:
    """The console script."""
    # A terminal that cannot show × or ≈ gets the nearest plain sign instead of no answer.
    codecs.register_error("plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="plain")
    if sys.argv[1:2] not in (["rank"], ["data"]) and sys.argv[1:3] != ["prices", "list"]:
        sys.exit(main())
    # A short question, or many rows: collecting garbage and taking the interpreter apart would be
    # a seventh of its time, and nothing is left to be closed.
    gc.disable()
    code = main()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BrokenPipeError:
        pass
    except OSError as error:
        code = _refuse(f"the answer could not be written: {error.strerror}")
    os._exit(code)


_PLAIN = str.maketrans("×≈–—│├┤─┼●…±²µ", "x~--|[]-|o.+2u")


def _plain(error: UnicodeError) -> tuple[str, int]:
    """What stands for signs that an encoding does not have: one for one, so that columns hold."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end].translate(_PLAIN)
    return "".join(ch if ch.isascii() else "?" for ch in lost), error.end


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. No traceback reaches the user."""
    with safe_output():
        return _answer(argv)


def _answer(argv: Sequence[str] | None) -> int:
    try:
        words = sys.argv[1:] if argv is None else argv
        _check_words(words)
        # To open the program, no parser of a dozen commands has to be made first.
        plain = argparse.Namespace(command=None, version=False)
        options = build_parser(words).parse_args(words) if words else plain
        if not getattr(options, "store", "-").strip():
            # An unset variable in a script must not end up in the user's own store.
            raise InputError("--store is empty: name a file, such as --store results.duckdb")
        return _run(options)
    except InputError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        # The reader of our output went away (as `| head` does): not a fault worth a word.
        sys.stdout = None
        return ANSWERED
    except KeyboardInterrupt:
        return CANCELLED
    except OSError as error:
        return _refuse(_os_words(error))
    except RecursionError:
        return _refuse(
            "something that was read is nested too deeply (a store's row, a file): leave it out"
        )
    except Exception as error:
        if os.environ.get("ADVISOR_DEBUG"):
            raise
        return _refuse(
            f"a fault of this program ({type(error).__name__}: {str(error)[:200]}): please report "
            "it with the command; with ADVISOR_DEBUG=1 it says where"
        )


def _check_words(words: Sequence[str]) -> None:
    for word in words:
        if word.startswith("--") and word.endswith("=--"):
            # argparse would hand on an empty list instead of the text.
            raise InputError(f"{word.removesuffix('=--')} has no value: write one after the =")


def _os_words(error: OSError) -> str:
    """What the system refused, and what to do about it."""
    if not error.filename:
        return str(error.strerror or error)
    path = Path(os.fsdecode(error.filename))
    if isinstance(error, FileNotFoundError) and not path.parent.is_dir():
        return f"there is no folder {path.parent}: make it first, or name a file in another folder"
    elsewhere = FileNotFoundError | PermissionError | IsADirectoryError | NotADirectoryError
    mend = ": name another file" if isinstance(error, elsewhere) else ""
    return f"{error.strerror or error} ({path}){mend}"


def _refuse(message: str) -> int:
    print(f"advisor: {' '.join(message.split())}", file=sys.stderr)
    return WRONG_INPUT


def _run(options: argparse.Namespace) -> int:
    if options.version:
        from advisor import __version__

        print(f"advisor {__version__}")
        return ANSWERED
    if options.command is None:
        return _open_program(options)  # it shows what is wrong with a store itself
    if hasattr(options, "format"):
        parse_choice(options.format, FORMATS, "format")
    from advisor.store import StoreError

    try:
        code: int = _module(options.command).run(options)
    except StoreError as error:
        return _refuse(str(error))
    return code


def _open_program(options: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(
            "the terminal program needs a terminal: use a command such as advisor rank, "
            "or see advisor --help"
        )
    if os.environ.get("TERM") == "dumb":
        raise InputError(
            "this terminal (TERM=dumb) cannot draw the program, nor hand on its keys: use a "
            "command such as advisor rank, or set TERM=xterm-256color where it can"
        )
    from advisor.tui.start import run

    return run(store_path(options))


if __name__ == "__main__":
    entry()
