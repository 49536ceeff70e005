"""The parser of the command line: every command by name, with its flags where it is called."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NoReturn

from advisor.cli.command import add_store, terminal_width
from advisor.cli.help_texts import COMMANDS, GROUPS, examples_of, whole_help
from advisor.typed_input import InputError, shown
from price_catalog.csv_table import nearest

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_FIRST_FLAGS = {
    **dict.fromkeys(("rank", "predict", "bench"), "model"),
    **dict.fromkeys(("prices add", "prices list"), "item"),
    **dict.fromkeys(("prices delete", "prices correct"), "quote"),
}
"""What a word without a flag is for, where a command that takes none is called with one."""


class _Formatter(argparse.HelpFormatter):
    """Knows the width, for which argparse would load what unpacks archives, in every command."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, width=terminal_width() - 2, **options)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Formatter, **options)

    def error(self, message: str) -> NoReturn:
        words = _in_words(message)
        if words == "missing: COMMAND":
            known = next(each.choices for each in self._actions if isinstance(each.choices, dict))
            words = f"a command is missing: {', '.join(known)}"
        raise InputError(f"{words} (see: {self.prog} --help)")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action.choices, dict) and value not in action.choices:
            self.error(f"there is no command {shown(value)}: {nearest(value, action.choices)}")
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
            self.error(
                f"unrecognized arguments: {' '.join(unknown)}{self._meant(unknown, options)}"
            )
        if missing := [each for each in needed if getattr(options, each.dest, None) is None]:
            self.error(f"missing: {', '.join(each.option_strings[0] for each in missing)}")
        return options, unknown

    def _meant(self, unknown: Sequence[str], options: argparse.Namespace) -> str:
        if not unknown[0].startswith("-"):
            flag = _FIRST_FLAGS.get(self.prog.removeprefix("advisor "), "-")
            if getattr(options, flag, getattr(options, f"cell_{flag}", "-")) is None:
                from advisor.answers.checklist import quoted  # late: hardly anybody needs it

                words = takewhile(lambda word: not word.startswith("-"), unknown)
                return f": write it as --{flag} {quoted(' '.join(words))}"
            return ": what has blanks needs quotes, as in --gpu 'RTX 6000 Ada' or --budget '40 000'"
        names = [flag[2:] for flag in self._option_string_actions if flag.startswith("--")]
        word = next((each[2:].split("=")[0] for each in unknown if each.startswith("--")), "-")
        if word.endswith("gpus") and unknown[-1].rpartition("=")[2].isdigit() and "count" in names:
            return ": did you mean '--count'?"  # where --gpu names the one
        # Somebody who types --days means --max-days, though others are spelled more alike.
        parts = [name for name in names if word in name.split("-")]
        meant = nearest(word, parts or names).replace(" '", " '--")
        return f": {meant}" if meant.startswith("did you mean") else ""

    def format_help(self) -> str:
        command = self.prog.removeprefix("advisor ")
        if command == "advisor":
            return whole_help()
        return (examples_of(command) if command in COMMANDS else "") + super().format_help()

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        # argparse's own is silent where the help cannot be written.
        if message:
            (file or sys.stdout).write(message)


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
