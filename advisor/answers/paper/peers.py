"""What peers have: the paper's survey of academic hardware as it prints it, beside one's own."""

from __future__ import annotations

import csv
from pathlib import Path

SURVEY = (
    "50 researchers of 35 institutions were asked for 3 weeks in April 2024 (about 60 % PhD "
    "students; arXiv 2410.23261, section 2), about what one person or project can use, not a whole "
    "lab. The paper does not print how many answered each question."
)
COLUMNS = ("topic", "share_percent", "told", "respondents", "asked", "where")

Peer = dict[str, str | int | None]
"""One finding of the survey in the paper's figures, by `COLUMNS`; ``share_percent`` is as printed,
a number or a range, and None where the paper prints no share."""


def peers() -> list[Peer]:
    """The survey's findings in the order of its topics."""
    with Path(__file__).with_name("survey.csv").open(encoding="utf-8", newline="") as file:
        return [
            {**row, "share_percent": row["share_percent"] or None}
            | {"respondents": 50, "asked": "2024-04"}
            for row in csv.DictReader(file)
        ]


def peers_sentence(found: list[Peer]) -> str:
    """What most of them have, in one sentence."""
    said = [share_words(peer) for peer in found]
    typical = next(words for words in said if words.startswith("the typical "))
    return f"T{typical[1:]}; {next(words for words in said if 'H100' in words)}."


def share_words(peer: Peer) -> str:
    """``41 % have no multi-node support``."""
    share = peer["share_percent"]
    return f"{peer['told']}" if share is None else f"{share} % {peer['told']}"
