"""The lines above the ranking: the answer, or what is wrong with the question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.tui.program.session import RankingSession


RETRY = "(tried again every 2 s)"
KEEP_COMMAND = re.compile(r"(?:[;:] keep| A plain) .*advisor predict .*", re.DOTALL)


def message_line(session: RankingSession, trouble: str | None) -> str | None:
    """The answer in one sentence, or what is wrong with the fields or the store; None while
    there is neither."""
    if session.errors:
        return f"⚠ {with_key(*next(iter(session.errors.items())))}"
    if trouble is not None:
        return f"⚠ {trouble} {RETRY}"
    if session.answer is not None:
        return session.sentence()
    return None


def with_key(name: str, problem: str) -> str:
    """What is wrong with a field; where a command would mend it, the key that does."""
    if name != "model":
        return problem
    said, listed, _ = KEEP_COMMAND.sub("", problem).partition("; known: ")
    if listed:  # which the picker shows
        return f"{said}. m: one of those that are here; U: a model of your own."
    if said.endswith("is a size and no model"):
        return f"{said}. \N{DOWNWARDS ARROW}: one of the list; U: a model of your own."
    return f"{said}{'' if said.endswith('?') else '.'} U: a model of your own."
