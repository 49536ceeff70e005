"""What somebody should hear about a grant."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caution:
    """A sentence or two for anybody, and what the grant's writer may change in its file."""

    says: str
    mend: str = ""
