"""What `advisor --help` says: the commands by what people do, and two examples of each."""

from __future__ import annotations

TITLES = {
    "choose": "Which GPUs",
    "money": "Prices and grants",
    "measure": "Measure",
    "evidence": "Evidence",
    "program": "This program",
}
"""Of each group of commands."""
GROUPS = {
    "choose": {
        "rank": "rank the machines that a budget can buy for one model",
        "predict": "how long a model takes on GPUs that you do not have",
        "reach": "what some GPUs, or this machine's, can train within a time",
    },
    "money": {
        "prices": "quotes, what can be built, owning against renting",
        "plan": "plan a grant: what to buy, rent and run, when; its report",
    },
    "measure": {
        "bench": "measure how long a model, or a training of your own, takes here",
        "jobs": "measurements on a cluster or a rented GPU: list, follow, merge",
    },
    "evidence": {
        "data": "times, predictions, settings, prices, GPUs, sources",
        "findings": "the paper's conclusions, computed again",
        "peers": "the GPUs that other academics have, next to yours",
        "merge": "bring in records or another store",
        "export": "write your own times as a file that merge reads",
    },
    "program": {
        "doctor": "is this installation all right, and what does it lack",
        "paths": "where the store and your settings lie",
        "rebuild": "build the store from the text tables; your own rows stay",
        "serve": "open the terminal program in a browser (this machine only)",
        "completion": "complete commands in bash or zsh",
    },
}
"""What each command does; the module advisor.cli.GROUP.NAME_command does it."""
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}
EXAMPLES = {
    "rank": ("--model pythia-1b --budget 40k", '--model vit --gpus "RTX 3090,H100" --max-days 30'),
    "predict": ("--model pythia-1b --gpu H100 --count 4", "--model vit --gpu A6000 --format json"),
    "reach": ("--gpu A6000 --count 4 --max-days 30", "--gpu H100 --count 8 --max-days 60"),
    "prices": ('list --item "RTX 3090"', "rent --model pythia-1b --gpu 'RTX 5090' --count 2"),
    "plan": ("--example > grant.toml", "grant.toml --quick"),
    "bench": ("--model pythia-160m", "--model pythia-160m --gpus 4 --on slurm"),
    "jobs": ("list", "list --format csv"),
    "data": ("times", "models --format csv"),
    "findings": ("", "--format json"),
    "peers": ("", "--format csv"),
    "merge": ("--check mine.jsonl", "--mine mine.jsonl"),
    "export": ("mine.jsonl", "--share lab.jsonl --lab 'NLP lab, University X'"),
    "doctor": ("", "--store results.duckdb"),
    "paths": ("", "--store results.duckdb"),
    "rebuild": ("--check", "--store new.duckdb"),
    "serve": ("", "--port 8080"),
    "completion": ("bash", "zsh"),
}
"""What to type after each command's name; each works as it stands."""


def whole_help() -> str:
    """What `advisor --help` prints: it fits a screen."""
    lines = ["usage: advisor [--store PATH] [COMMAND ...]", ""]
    lines.append("Which GPUs to buy or rent for the model you want to train.")
    for group, commands in GROUPS.items():
        lines.append(f"{TITLES[group]}:")
        lines += [f"  {name:<11} {text}" for name, text in commands.items()]
    lines.append("Without a command the terminal program opens. Of a command: advisor rank --help")
    lines.append("  --store PATH  the evidence (else $ADVISOR_STORE, ./results.duckdb, your own)")
    lines.append("  --version     print the version; begin with:")
    return "\n".join([*lines, f"  advisor rank {EXAMPLES['rank'][0]}"]) + "\n"


def examples_of(command: str) -> str:
    """The lines that a command's help begins with."""
    typed = (f"  advisor {command} {each}".rstrip() for each in EXAMPLES[command])
    return "\n".join(typed) + "\n\n"
