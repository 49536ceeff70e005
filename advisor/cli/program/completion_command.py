"""``advisor completion``: a script that completes commands and flags in bash or zsh."""

from __future__ import annotations

import argparse

from advisor.cli.command import ANSWERED
from advisor.cli.help_texts import COMMANDS
from advisor.typed_input import parse_choice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which shell."""
    parser.add_argument("shell", metavar="bash|zsh", help='as in: eval "$(... bash)"')


def run(options: argparse.Namespace) -> int:
    """Print the script. Raises InputError."""
    shell = parse_choice(options.shell, ("bash", "zsh"), "the shell")
    flags = {name: _flags(name) for name in COMMANDS}
    lines = [
        *(["autoload -U +X bashcompinit && bashcompinit"] if shell == "zsh" else []),
        "_advisor() {",
        "  local words",
        '  case "${COMP_WORDS[1]}" in',
        *(f"    {name}) words='{' '.join(words)}';;" for name, words in flags.items()),
        f"    *) words='{' '.join(flags)} --store --version --help';;",
        "  esac",
        '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
        "}",
        "complete -o default -F _advisor advisor gpu-grant-advisor",
    ]
    print("\n".join(lines))
    return ANSWERED


def _flags(command: str) -> list[str]:
    """The flags of a command, and the commands inside it."""
    from advisor.cli.command_parser import build_parser

    found: list[str] = []
    waiting = [build_parser([command])]
    while waiting:
        for action in waiting.pop()._actions:
            if isinstance(action.choices, dict):
                found += [name for name in action.choices if name != command]
                waiting += action.choices.values()
            found += [flag for flag in action.option_strings if flag.startswith("--")]
    return list(dict.fromkeys(found))
