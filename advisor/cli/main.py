"""The command line: one command per question. Without a command, the terminal program opens.

stdout holds the answer alone, messages go to stderr. Imports are late: `rank` must not pay for what
it does not use.
"""

from __future__ import annotations

import codecs
import errno
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from advisor.cli.command import ANSWERED, CANCELLED, NOTES, WRONG_INPUT, store_path
from advisor.cli.safe_output import safe_output
from advisor.typed_input import InputError, parse_choice
from bench_runner.streams import ClosedStream, fill_closed_streams

if TYPE_CHECKING:
    import argparse


def entry() -> NoReturn:
    """The console script."""
    closed = sys.stdout is None
    fill_closed_streams()
    if closed:
        sys.stdout = ClosedStream()
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
        words, training = _with_training(words)
        _check_words(words)
        if not words and training is None:
            return _open_program(None)  # for which no parser of a dozen commands is needed
        from advisor.cli.command_parser import build_parser

        options = build_parser(words).parse_args(words)
        if training is not None:
            options.training = training
        options.typed = [*words]
        if not getattr(options, "store", "-").strip():
            # An unset variable in a script must not end up in the user's own store.
            raise InputError("--store is empty: name a file, such as --store results.duckdb")
        from advisor.answers.checklist import TYPED_STORE

        before = TYPED_STORE.set(getattr(options, "store", None))
        try:
            return _run(options)
        finally:
            TYPED_STORE.reset(before)
    except InputError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        # The reader of our output went away (as `| head` does): not a fault worth a word.
        sys.stdout = None
        return ANSWERED
    except KeyboardInterrupt:
        # Where it fell into text that was being executed (a dataclass of a library that is just
        # loaded), CPython would end by the signal whatever we return, until text is executed again.
        exec("")
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


def _with_training(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str] | None]:
    """The words, and the command of the user's own that stands behind -- in ``advisor bench``."""
    if "--" not in words or "bench" not in words[: words.index("--")]:
        return words, None
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _check_words(words: Sequence[str]) -> None:
    for word in words:
        if word.startswith("--") and word.endswith("=--"):
            # argparse would hand on an empty list instead of the text.
            raise InputError(f"{word.removesuffix('=--')} has no value: write one after the =")


def _os_words(error: OSError) -> str:
    """What the system refused, and what to do about it."""
    if not error.filename:
        full = error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
        what = "the answer could not be written: " if full else ""
        return f"{what}{error.strerror or error}"
    path = Path(os.fsdecode(error.filename))
    if isinstance(error, FileNotFoundError) and not path.parent.is_dir():
        return f"there is no folder {path.parent}: make it first, or name a file in another folder"
    elsewhere = FileNotFoundError | PermissionError | IsADirectoryError | NotADirectoryError
    nowhere = error.errno in (errno.ENAMETOOLONG, errno.ELOOP)
    mend = ": name another file" if nowhere or isinstance(error, elsewhere) else ""
    if error.errno in (errno.EROFS, errno.ENOSPC):
        mend = ": name a file on another disk"
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
        options.format = parse_choice(options.format, options.formats, "--format")
    from advisor.cli.command_parser import command_module
    from advisor.store import StoreError
    from advisor.store.store import to_stderr

    try:
        NOTES.clear()
        code: int = command_module(options.command).run(options)
    except StoreError as error:
        return _refuse(str(error))
    for words in NOTES:
        to_stderr(words)
    return code


_PLAIN_TERMINALS = ("dumb", "unknown")
"""What has no size, so that a screen on it would be drawn again and again without an end."""


def _open_program(options: argparse.Namespace | None) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(
            "the terminal program needs a terminal: use a command such as advisor rank, "
            "or see advisor --help"
        )
    if (terminal := os.environ.get("TERM", "").casefold()) in _PLAIN_TERMINALS:
        raise InputError(
            f"this terminal (TERM={terminal}) cannot draw the program, nor hand on its keys: use a "
            "command such as advisor rank, or set TERM=xterm-256color where it can"
        )
    gc.disable()  # as `run` says
    from advisor.tui.start import run

    return run(store_path(options))
