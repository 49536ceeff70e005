"""The parser of the command line: every command by name, with its flags where it is called."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NoReturn

from advisor.cli.command import add_store
from advisor.cli.help_texts import COMMANDS, GROUPS, examples_of, whole_help
from advisor.typed_input import InputError, shown
from price_catalog.csv_table import nearest

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_FIRST_FLAGS = {
    **dict.fromkeys(("rank", "predict", "bench"), "model"),
    **dict.fromkeys(("prices add", "prices list"), "item"),
    "prices delete": "quote",
    "prices correct": "quote",
    "prices builds": "gpus",
}
"""What a word without a flag is for, where a command that takes none is called with one."""


_OFTEN_WITH_BLANKS = {"--gpu", "--gpus", "--item", "--machine", "--vendor", "--note"}
"""Flags whose values have blanks, and so need quotes, as in --gpu 'RTX 6000 Ada'."""
_RENT = "advisor prices rent compares buying with renting, for one machine"
_ELSEWHERE = {
    **dict.fromkeys(("rent", "rental", "hours", "cloud"), _RENT),
    **dict.fromkeys(("runs", "experiments", "deadline"), "advisor plan answers for several runs"),
    "currency": "write it behind the amount, as in --budget 40kEUR",
}
"""What is asked of a ranking and answered elsewhere."""


_DONE_BY = {
    "report": "write advisor plan grant.toml --out report.pdf",
    "compare": "open advisor, and press c on one build and on another",
}
"""What is a flag or a key, for who looks for a command."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        words = _in_words(message)
        if words == "missing: COMMAND":
            known = next(each.choices for each in self._actions if isinstance(each.choices, dict))
            words = f"a command is missing: {', '.join(known)}"
        raise InputError(f"{words} (see: {self.prog} --help)")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action.choices, dict) and value not in action.choices:
            meant = _DONE_BY.get(value) or nearest(value, action.choices)
            self.error(f"there is no command {shown(value)}: {meant}")
        super()._check_value(action, value)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """What a command does not know is refused by the command itself: it knows what is meant.
        It comes before what is missing, which may be the same word."""
        needed = [action for action in self._actions if action.required and action.option_strings]
        for action in needed:
            action.required = False
        try:
            options, unknown = super().parse_known_args(args, namespace)
        finally:
            for action in needed:
                action.required = True
        if unknown:
            meant = self._meant(unknown, options, [] if args is None else list(args))
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        if missing := [each for each in needed if getattr(options, each.dest, None) is None]:
            self.error(f"missing: {', '.join(each.option_strings[0] for each in missing)}")
        return options, unknown

    def _meant(
        self, unknown: Sequence[str], options: argparse.Namespace, args: Sequence[str]
    ) -> str:
        if not unknown[0].startswith("-"):
            if (meant := _unquoted(unknown, args)) is not None:
                return f": what has blanks needs quotes, as in {meant}"
            flag = _FIRST_FLAGS.get(self.prog.removeprefix("advisor "), "-")
            if flag == "model" and options.model and unknown[0].lstrip("$")[:1].isdigit():
                flag = "budget"
            if not getattr(options, flag, getattr(options, f"cell_{flag}", "-")):
                from advisor.answers.checklist import quoted  # late: hardly anybody needs it

                words = takewhile(lambda word: not word.startswith("-"), unknown)
                return f": write it as --{flag} {quoted(' '.join(words))}"
            if len(unknown) == 1 and not unknown[0].isdigit():
                return ": one word more than the command takes"
            return ": what has blanks needs quotes, as in --budget '40 000'"
        flags = (flag for flag in self._option_string_actions if flag != "--help")
        names = [flag[2:] for flag in flags if flag.startswith("--")]
        word = next((each[2:].split("=")[0] for each in unknown if each.startswith("--")), "")
        elsewhere = _ELSEWHERE.get(word) if self.prog == "advisor rank" else None
        if elsewhere is not None:
            return f": {elsewhere}"
        # Somebody who types --days means --max-days, though others are spelled more alike.
        parts = [name for name in names if word in name.split("-")]
        if word.endswith("gpus") and "count" in names and _numbered(unknown):
            return ": did you mean '--count'?"  # where --gpu names the one
        if not parts and word in _of_predict(self.prog):
            return (
                f": advisor predict takes --{word} for a model of yours; keep the model there with "
                "--keep NAME, and --model NAME is known here"
            )
        meant = nearest(word, parts or names).replace(" '", " '--")
        return f": {meant}" if word and meant.startswith("did you mean") else ""

    def format_help(self) -> str:
        command = self.prog.removeprefix("advisor ")
        if command == "advisor":
            return whole_help()
        return (examples_of(command) if command in COMMANDS else "") + super().format_help()

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        # argparse's own is silent where the help cannot be written.
        if message:
            (file or sys.stdout).write(message)


def _of_predict(prog: str) -> set[str]:
    """What says of a model how it is trained, where a command takes models as they are kept."""
    if prog != "advisor rank":
        return set()
    predict = _Parser(prog="advisor predict")
    command_module("predict").add_arguments(predict)
    return {flag[2:] for flag in predict._option_string_actions if flag.startswith("--")}


def _unquoted(unknown: Sequence[str], args: Sequence[str]) -> str | None:
    """``--gpu 'RTX 6000 Ada'`` where such a value was typed without its quotes; else None."""
    from advisor.answers.checklist import quoted  # late: hardly anybody needs it

    at = next((n for n, word in enumerate(args) if word == unknown[0]), 0)
    if at < 2 or args[at - 2] not in _OFTEN_WITH_BLANKS:
        return None
    rest = takewhile(lambda word: not word.startswith("-"), args[at - 1 :])
    return f"{args[at - 2]} {quoted(' '.join(rest))}"


def _numbered(words: Sequence[str]) -> bool:
    """Whether the value of the first unknown flag is a whole number."""
    place = next(i for i, word in enumerate(words) if word.startswith("--"))
    value = words[place].partition("=")[2] or "".join(words[place + 1 : place + 2])
    return value.isascii() and value.isdigit()


def _in_words(message: str) -> str:
    """What argparse found wrong, as a person says it."""
    if message.endswith(": expected one argument"):
        flag = message.removeprefix("argument ").partition(":")[0]
        return f"{flag} has no value: write one after it"
    missing = message.removeprefix("the following arguments are required: ")
    return message if missing == message else f"missing: {missing}"


def build_parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Every command by name; with its flags where ``words`` call it."""
    parser = _Parser(prog="advisor")
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
            command_module(name).add_arguments(command)
    return parser


def command_module(command: str) -> Any:
    """Where a command's flags and its answer are."""
    group = next(name for name, commands in GROUPS.items() if command in commands)
    return import_module(f"advisor.cli.{group}.{command}_command")
