"""The subcommands and flags of ``advisor prices``."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from advisor.cli.command import add_format, add_store, add_terms
from advisor.costs.own_machines import MACHINE_TABLE
from advisor.costs.own_quotes import QUOTE_TABLE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The subcommands of `advisor prices`."""
    subs = parser.add_subparsers(
        dest="prices_command", metavar="COMMAND", required=True, parser_class=type(parser)
    )

    def command(name: str, text: str) -> argparse.ArgumentParser:
        sub = subs.add_parser(name, help=text, description=text)
        add_store(sub)
        return sub

    listed = command("list", "every quote with its age, its marks and whether it counts")
    listed.add_argument("--item", metavar="NAME", help="only this GPU or machine")
    listed.add_argument("--own", action="store_true", help="only your own")
    listed.add_argument(
        "--prices", default="latest", help="paper, latest (default), or as known on YYYY-MM-DD"
    )
    add_format(listed)

    add = command(
        "add",
        'add a quote of your own: for what is known (--item "RTX 3090") or for a machine that '
        "a vendor quoted to you (--machine)",
    )
    _add_cells(add)

    correct = command("correct", "correct a machine or a quote of yours: name what changes")
    correct.add_argument("--quote", metavar="ID", help="the quote, as advisor prices list has it")
    correct.add_argument(
        "--rename", metavar="NAME", help="of a machine: what it is called from now on"
    )
    _add_cells(correct, without=("item", "item_kind", "corrects"))

    delete = command("delete", "delete a machine or a quote of yours")
    delete.add_argument("--machine", metavar="NAME", help="the machine, with all its prices")
    delete.add_argument("--quote", metavar="ID", help="the quote, as advisor prices list has it")

    bring = command("import", "read a CSV file of quotes: all of it or nothing")
    bring.add_argument("file", metavar="FILE.csv")
    bring.add_argument("--dry-run", action="store_true", help="show what would be read, and stop")

    export = command("export", "write your own quotes as a CSV file that import reads")
    export.add_argument("file", metavar="FILE.csv", help="where to; must not exist yet")

    command("refresh", "renew the rental prices of the clouds from public files")

    builds = command("builds", "what can be put together: slots, power, circuits, heat, memory")
    builds.add_argument("--gpus", metavar="NAMES", help='only these, as in "RTX 3090,H100"')
    builds.add_argument("--circuit", metavar="V/A", help="the lab's circuit, as in 120V/15A")
    add_format(builds)

    own = command("own", 'machines that you have, as in: own "2 x A6000"')
    own.add_argument("machine", nargs="?", metavar="N x GPU")
    own.add_argument("--remove", action="store_true", help="forget it again")
    add_format(own)

    for name, text in (
        ("cost", "the whole cost of owning one build, term by term"),
        ("rent", "renting the same GPUs instead, and where the two break even"),
    ):
        one = command(name, text)
        one.add_argument("--model", required=True, help="a recipe, such as pythia-1b")
        one.add_argument("--gpu", required=True, help="as in A100")
        one.add_argument("--count", required=True, metavar="N", help="how many GPUs")
        one.add_argument("--machine", metavar="NAME", help="this machine (default: the cheapest)")
        one.add_argument("--prices", default="latest", help="paper, latest (default), or a day")
        one.add_argument("--evidence", default="sound", help="sound (default) or published")
        add_terms(one)
        one.add_argument("--power", metavar="W", help="of one GPU as measured, such as 310 W")
        one.add_argument("--rack-units", metavar="U", help="of the machine, where none are known")
        if name == "rent":
            one.add_argument("--experiments", metavar="N", help="compare for N training runs")
        one.add_argument("--details", action="store_true", help="every term, quote and source")
        add_format(one)

    check = command("check", "what is stale, outlying, contradicting or unsourced")
    check.add_argument("--prices", default="latest", help="latest (default), or as of YYYY-MM-DD")
    add_format(check)


def _add_cells(parser: argparse.ArgumentParser, without: Collection[str] = ()) -> None:
    for name, label, word, hint, _ in (*QUOTE_TABLE, *MACHINE_TABLE):
        if name not in without:
            flag, hint = f"--{name.replace('_', '-')}", f"{label}: {hint}"
            parser.add_argument(flag, dest=f"cell_{name}", metavar=word, help=hint)
