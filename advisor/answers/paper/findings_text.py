"""The paper's conclusions beside what they come to here, as text for a person."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.answers.paper.findings import Finding
from advisor.tables.plain_values import fill


def findings_text(found: Sequence[Finding], width: int) -> str:
    """What does not stand first, then each conclusion with both figures and how it was computed."""
    blocks = [fill(_head(found), width)]
    for each in found:
        title = _as_written(f"{each.finding[:1].upper()}{each.finding[1:]}")
        figures = f"here {each.recomputed}; the paper: {each.paper_says}"
        lines = [
            fill(title, width),
            fill(figures, width, initial_indent="  ", subsequent_indent="    "),
            fill(_as_written(each.how), width, initial_indent="  ", subsequent_indent="  "),
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _head(found: Sequence[Finding]) -> str:
    impossible = [
        _as_written(each.finding.partition(":")[0]) for each in found if each.is_impossible
    ]
    if not impossible:
        return f"{len(found)} conclusions of the paper, each with what it comes to here."
    return (
        f"One conclusion falls: the time of {' and '.join(impossible)}, the paper's choice for "
        f"$40,000, is physically impossible. Below, {len(found)} figures of the paper and our own."
    )


def _as_written(words: str) -> str:
    """``8 × RTX 3090``, as every other answer writes it."""
    return words.replace(" x ", " × ")
