"""``advisor completion``: a script that completes commands and flags in bash, zsh or fish."""

from __future__ import annotations

import argparse
import shlex

from advisor.cli.command import ANSWERED
from advisor.cli.help_texts import COMMANDS
from advisor.typed_input import parse_choice

SHELLS = ("bash", "zsh", "fish")
_PROGRAMS = "advisor gpu-grant-advisor"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which shell."""
    parser.add_argument("shell", metavar="bash|zsh|fish", help='as in: eval "$(... bash)"')


def run(options: argparse.Namespace) -> int:
    """Print the script. Raises InputError."""
    shell = parse_choice(options.shell, SHELLS, "the shell")
    flags = {name: _flags(name) for name in COMMANDS}
    print(_fish(flags) if shell == "fish" else _bash(flags, zsh=shell == "zsh"))
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


def _bash(flags: dict[str, list[str]], *, zsh: bool) -> str:
    cases = [f"    {name}) words='{' '.join(words)}';;" for name, words in flags.items()]
    return "\n".join(
        [
            *(["autoload -U +X bashcompinit && bashcompinit"] if zsh else []),
            "_advisor() {",
            "  local words",
            '  case "${COMP_WORDS[1]}" in',
            *cases,
            f"    *) words='{' '.join(flags)} --store --version --help';;",
            "  esac",
            '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
            "}",
            f"complete -o default -F _advisor {_PROGRAMS}",
        ]
    )


def _fish(flags: dict[str, list[str]]) -> str:
    lines = []
    for program in _PROGRAMS.split():
        for name, words in flags.items():
            text = shlex.quote(COMMANDS[name])
            lines.append(f"complete -c {program} -n __fish_use_subcommand -a {name} -d {text}")
            seen = f"'__fish_seen_subcommand_from {name}'"
            for word in words:
                what = f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
                lines.append(f"complete -c {program} -n {seen} {what}")
    return "\n".join(lines)
