"""The command line: one command per question. Without a command, the terminal program opens.

stdout holds the answer alone, messages go to stderr. Exit codes: 0 answered; 1 the question has no
answer; 2 the input is wrong. Imports are late: `rank` must not pay for what it does not use.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from advisor.parse import InputError

ANSWERED, NO_ANSWER, WRONG_INPUT = 0, 1, 2
FORMATS = ("table", "json", "csv")


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see: {self.prog} --help)")


def build_parser(argv: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Every command with its flags; those of a command in a module of its own where called."""
    parser = _Parser(
        prog="advisor",
        description="Which GPU machine to buy for the model you want to pre-train. "
        "Without a command, the terminal program opens.",
    )
    common = _Parser(add_help=False)
    for each in (parser, common):
        each.add_argument(
            "--store",
            metavar="PATH",
            default=argparse.SUPPRESS,
            help="the evidence: a results.duckdb (else $ADVISOR_STORE, else ./results.duckdb, "
            "else the one in your data folder)",
        )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, parents=[common])

    rank = command("rank", "rank the machines that a budget can buy for one model")
    rank.add_argument("--model", required=True, help="a recipe, such as pythia-1b")
    rank.add_argument("--budget", metavar="USD", help="40000, 40k or $40,000; without it, no limit")
    rank.add_argument("--max-days", metavar="D", help="longest acceptable training time, in days")
    rank.add_argument(
        "--by",
        metavar="RULE",
        default="days",
        help="days (default: fastest first), cost or experiment-cost",
    )
    rank.add_argument(
        "--lifetime-years", metavar="Y", help="how long the machine serves (default: 5)"
    )
    rank.add_argument(
        "--prices", default="latest", help="paper, latest (default), or as known on YYYY-MM-DD"
    )
    rank.add_argument(
        "--evidence",
        default="sound",
        help="sound (default: never ranks an impossible time) or published (at face value)",
    )
    rank.add_argument("--gpus", metavar="NAMES", help='only these, as in "RTX 3090,H100"')
    rank.add_argument("--circuit", metavar="V/A", help="the lab's circuit, as in 120V/15A")
    _format(rank)

    data = command("data", "print the evidence itself")
    data.add_argument("table", metavar="times|predictions|settings|prices|gpus|sources")
    _format(data)

    findings = command("findings", "recompute what the paper concludes, beside what it says")
    _format(findings)

    rebuild = command("rebuild", "build the store from the text tables; your own rows are kept")
    rebuild.add_argument(
        "--check", action="store_true", help="change nothing; say where the store differs"
    )

    bench = command("bench", "measure this machine: how long would it train, with which settings")
    if "bench" in argv:
        from advisor.cli.benchmark import add_arguments as add_bench_arguments

        add_bench_arguments(bench)

    merge = command("merge", "bring records or another store in; twice is the same as once")
    merge.add_argument("files", nargs="+", metavar="FILE", help="a .jsonl of records or a .duckdb")

    export = command("export", "write your own rows as a file that merge reads")
    export.add_argument(
        "file",
        metavar="FILE.jsonl|figures",
        help="where to (must not exist yet), or figures: draw the paper's figures from the store",
    )
    export.add_argument("--out", metavar="FOLDER", help="for figures (default: ./figures)")
    export.add_argument("--force", action="store_true", help="overwrite figures that are there")

    predict = command("predict", "predict a time that nobody measured, with its interval")
    if "predict" in argv:
        from advisor.cli.predict import add_arguments as add_predict_arguments

        add_predict_arguments(predict)

    plan = command("plan", "plan a grant: what to buy, rent and run, when, and its report")
    if "plan" in argv:
        from advisor.cli.plan import add_arguments as add_plan_arguments

        add_plan_arguments(plan)

    prices = command("prices", "the ledger of prices; what can be built; owning against renting")
    if "prices" in argv:
        from advisor.cli.prices import add_arguments

        add_arguments(prices, common)

    command("doctor", "check this installation: store, terminal, GPUs, what a benchmark needs")
    command("paths", "print where the store and your settings lie")
    serve = command("serve", "open the terminal program in a browser (this machine only)")
    serve.add_argument("--port", default="8000", help="port to listen on (default: 8000)")
    serve.add_argument("--host", default="127.0.0.1", help="address (default: this machine only)")
    return parser


def _format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", default="table", help="table (default), json or csv")


def entry() -> NoReturn:
    """The console script."""
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        # A terminal that cannot show × or – gets a question mark instead of no answer.
        sys.stdout.reconfigure(errors="replace")
    if sys.argv[1:2] not in (["rank"], ["data"]):
        sys.exit(main())
    # A short question: collecting garbage and taking the interpreter apart would be a seventh of
    # its time, and nothing is left to be closed.
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. No traceback reaches the user."""
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
        return 130
    except OSError as error:
        return _refuse(_os_words(error))
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
    form = getattr(options, "format", None)
    if form is not None and form not in FORMATS:
        from advisor.parse import shown

        raise InputError(f"format {shown(form)} is not known: write table, json or csv")
    command = options.command
    if command == "paths":
        return _paths(options)
    if command is None:
        return _tui(options)  # it shows what is wrong with a store itself
    from advisor.store import StoreError

    try:
        return _COMMANDS[command](options)
    except StoreError as error:
        return _refuse(str(error))


def _store(options: argparse.Namespace) -> Any:
    from advisor.store import Store, find_store

    return Store(find_store(getattr(options, "store", None)))


def _tui(options: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(
            "the terminal program needs a terminal: use a command such as advisor rank, "
            "or see advisor --help"
        )
    from advisor.store import find_store
    from advisor.tui.start import run

    return run(find_store(getattr(options, "store", None)))


def _rank(options: argparse.Namespace) -> int:
    from advisor.cli.rank import answer_rank
    from advisor.ranking.typed_question import TypedQuestion

    typed = TypedQuestion(
        model=options.model,
        budget=options.budget,
        max_days=options.max_days,
        rule=options.by,
        lifetime=options.lifetime_years,
        prices=options.prices,
        evidence=options.evidence,
        gpus=options.gpus,
        circuit=options.circuit,
    )
    text, answered = answer_rank(_store(options), typed, options.format)
    print(text)
    return ANSWERED if answered else NO_ANSWER


def _data(options: argparse.Namespace) -> int:
    from advisor.answers.evidence import data_rows
    from advisor.tables import render_rows

    rows = data_rows(_store(options), options.table)
    print(render_rows(rows, options.format))
    return ANSWERED if rows else NO_ANSWER


def _findings(options: argparse.Namespace) -> int:
    from advisor.answers.paper.findings import find
    from advisor.tables import render_rows

    with _store(options).reading() as reader:
        found = find(reader)
    print(render_rows([finding.as_row() for finding in found], options.format))
    return ANSWERED


def _rebuild(options: argparse.Namespace) -> int:
    from advisor.store import build_store, check_store, find_store

    path = find_store(getattr(options, "store", None))
    if not options.check:
        build_store(path)
        print(f"built {path} from the text tables", file=sys.stderr)
        return ANSWERED
    differences = check_store(path)
    for line in differences:
        print(line)
    if not differences:
        print(f"{path} is what the text tables say", file=sys.stderr)
    return NO_ANSWER if differences else ANSWERED


def _merge(options: argparse.Namespace) -> int:
    store = _store(options)
    for file in options.files:
        added = store.merge(Path(file))
        print(f"{file}: {added} new rows", file=sys.stderr)
    return ANSWERED


def _predict(options: argparse.Namespace) -> int:
    from advisor.cli.predict import run
    from advisor.prediction.own_records import fit_with

    store = _store(options)
    return run(options, lambda: fit_with(store.own_records(), store.own_models()), store)


def _plan(options: argparse.Namespace) -> int:
    from advisor.cli.plan import run

    return run(options)


def _export(options: argparse.Namespace) -> int:
    if options.file == "figures":
        from advisor.cli.plan import run_figures

        return run_figures(options)
    if options.out is not None or options.force:
        raise InputError("--out and --force go with: advisor export figures")
    count = _store(options).export_local(Path(options.file))
    print(f"{options.file}: {count} rows of your own", file=sys.stderr)
    return ANSWERED


def _bench(options: argparse.Namespace) -> int:
    from advisor.cli import benchmark as bench

    return bench.run(options)


def _prices(options: argparse.Namespace) -> int:
    from advisor.cli.prices import run

    return run(options, _store(options))


def _doctor(options: argparse.Namespace) -> int:
    from advisor.cli.doctor import examine

    checks = examine(getattr(options, "store", None))
    for check in checks:
        print(check.line())
    return ANSWERED if all(check.ok for check in checks) else NO_ANSWER


def _paths(options: argparse.Namespace) -> int:
    from advisor.cli.doctor import paths

    for name, path in paths(getattr(options, "store", None)):
        print(f"{name}\t{path}")
    return ANSWERED


def _serve(options: argparse.Namespace) -> int:
    from advisor.parse import shown
    from advisor.store import find_store
    from advisor.tui.serve import serve

    if not (
        options.port.isascii()
        and options.port.isdigit()
        and len(options.port) < 6
        and 0 < int(options.port) < 65536
    ):
        raise InputError(f"port {shown(options.port)} is not a number from 1 to 65535")
    serve(find_store(getattr(options, "store", None)), host=options.host, port=int(options.port))
    return ANSWERED


_COMMANDS = {
    "rank": _rank,
    "predict": _predict,
    "data": _data,
    "findings": _findings,
    "rebuild": _rebuild,
    "merge": _merge,
    "export": _export,
    "plan": _plan,
    "bench": _bench,
    "prices": _prices,
    "doctor": _doctor,
    "serve": _serve,
}


if __name__ == "__main__":
    entry()
