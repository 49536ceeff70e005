"""What a setting is called on the benchmark's screen: the runner's label in words (pure).

A label is ``zero-1 + offloading + layers compiled + fused loss``: what saves memory, then the
kernels. Most rows of a search have the same kernels, which are said once for all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from advisor.tables.text_table import cut_words

NAIVE = "naive"
FREE_LUNCH = "free lunch"
FOLDED = "…"
"""The row of what was left out."""
_WORDS = {
    **{f"zero-{stage}": f"ZeRO-{stage}" for stage in (1, 2, 3)},
    "fsdp-full-shard": "FSDP full shard",
    "fsdp-shard-grad-op": "FSDP grad shard",
}
_IDENTIFIER = re.compile("|".join(map(re.escape, _WORDS)))
_CLOSE = {
    "FSDP full shard": "FSDP full",
    "FSDP grad shard": "FSDP grad",
    "offloading": "offload",
    "checkpointing": "checkpoints",
    "half-precision weights": "half weights",
    "half-precision states": "half states",
    "layers compiled": "layers",
    "compiled whole": "whole",
    "not compiled": "uncompiled",
    "eager attention": "eager",
    "sdpa attention": "sdpa",
    "flash attention": "flash",
    "fused loss": "fused",
}
"""The same where a column is narrow; the full record of a row has it in full."""
_MEMORY = ("offloading", "checkpointing")
AS_PUBLISHED = "paper's kernels"
"""Of a row without a word on kernels, where most rows have others."""
Words = tuple[str, ...]


def full_name(text: str) -> str:
    """A label in full, ``ZeRO-1 + offloading + layers compiled``; or a sentence with labels."""
    return _IDENTIFIER.sub(lambda found: _WORDS[found[0]], text)


def shared_kernels(labels: Iterable[str]) -> Words:
    """The kernels that more than half of these settings have; none where they differ, or have those
    of the paper."""
    kernels = Counter(_kernels(label) for label in labels if label not in (NAIVE, FOLDED))
    (shared, count), *_ = kernels.most_common(1) or [((), 0)]
    return shared if 2 * count > kernels.total() else ()


def shared_words(labels: Sequence[str]) -> str:
    """What is said once for all rows; empty where each row says everything."""
    shared = shared_kernels(labels)
    words = ", ".join("trimmed input" if word == "trimmed" else word for word in shared)
    return f"Unless named: {words}." if shared and len(labels) > 1 else ""


def row_names(labels: Sequence[str], room: int) -> dict[str, str]:
    """Each setting in so many cells, without what `shared_words` says of all, so that no two look
    alike: in full where that fits, else without what goes without saying, else closer together, cut
    at last."""
    spellings = (spelled(labels), spelled(labels, brief=True), spelled(labels, close=True))
    fitting = (names for names in spellings if max(map(len, names), default=0) <= room)
    return dict(zip(labels, cut_words(next(fitting, spellings[-1]), room), strict=True))


def spelled(labels: Sequence[str], *, brief: bool = False, close: bool = False) -> list[str]:
    """The names of the rows in full, ``brief`` or ``close`` together."""
    shared = shared_kernels(labels) if len(labels) > 1 else ()
    return [_name(label, shared, brief=brief or close, close=close) for label in labels]


def _name(label: str, shared: Words, *, brief: bool, close: bool) -> str:
    words, kernels = _words(label), _kernels(label)
    if kernels and kernels == shared:
        words = words[: -len(kernels)]
    elif shared and not kernels and label not in (NAIVE, FOLDED):
        words = (*words, AS_PUBLISHED)
    if brief:
        if len(words) > 1 and words[0] == FREE_LUNCH:
            words = words[1:]  # nothing that is naive goes without that word
        return ", ".join(_CLOSE.get(word, word) if close else word for word in words)
    return " + ".join(words)


def _words(label: str) -> Words:
    return tuple(full_name(label).split(" + "))


def _kernels(label: str) -> Words:
    """What comes after the sharding and what else saves memory."""
    return tuple(word for word in _words(label)[1:] if word not in _MEMORY)
