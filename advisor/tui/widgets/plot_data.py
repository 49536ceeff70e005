"""What the picture of cost against training time shows: columns of numbers, no objects a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from itertools import compress


class PointFlag(IntFlag):
    """What else is known of a point; one byte of ``PlotData.flags`` holds any of these."""

    FRONT = 1
    """Nothing else is both cheaper and faster."""
    PREDICTED = 2
    """Nobody measured this time: drawn hollow."""
    DOUBTFUL = 4
    """The evidence is hard to believe: marked with a question mark."""
    EXCLUDED = 8
    """Left out of the ranking: drawn dim and in brackets."""
    OWNED = 16
    """The user's own machine."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlotData:
    """Parallel columns, one entry a build; the first rows win where many share one cell.

    Budget, time limit and selection are not in here: they belong to the view, and change far
    more often than the points do. Reuse the same ``x_usd`` and ``y_days`` objects when only
    flags change, and the picture is laid out without taking logarithms again.
    """

    x_usd: Sequence[float] = ()
    """Cost in USD, above zero: overall, or of one experiment."""
    y_days: Sequence[float] = ()
    """Training time in days, above zero."""
    series: Sequence[int] = ()
    """Which GPU type: an index into ``series_names``."""
    gpu_count: Sequence[int] = ()
    flags: bytes = b""
    """A ``PointFlag`` combination a point; empty when there is nothing to say of any."""
    series_names: Sequence[str] = ()
    y_low_days: Sequence[float | None] | None = None
    y_high_days: Sequence[float | None] | None = None
    x_title: str = "overall cost, USD (log)"
    y_title: str = "training time, days (log)"

    def __post_init__(self) -> None:
        count = len(self.x_usd)
        for name in ("y_days", "series", "gpu_count", "y_low_days", "y_high_days"):
            column = getattr(self, name)
            if column is not None and len(column) != count:
                raise ValueError(
                    f"PlotData.{name} has {len(column)} entries where x_usd has {count}: "
                    "give every column one entry a point"
                )
        if self.flags and len(self.flags) != count:
            raise ValueError(
                f"PlotData.flags has {len(self.flags)} bytes where x_usd has {count} entries: "
                "give one byte a point, or none at all"
            )
        if count and not 0 <= min(self.series) <= max(self.series) < len(self.series_names):
            raise ValueError(
                f"PlotData.series runs from {min(self.series)} to {max(self.series)} where "
                f"series_names has {len(self.series_names)} entries: index the names"
            )

    def __len__(self) -> int:
        return len(self.x_usd)

    def has(self, index: int, flag: PointFlag) -> bool:
        """Whether this point carries this flag."""
        return bool(self.flags) and bool(self.flags[index] & flag)

    def flagged(self, flag: PointFlag) -> list[int]:
        """The points that carry any of these flags, in order, found without a loop in Python."""
        marks = self.flags.translate(bytes(int(bool(byte & flag)) for byte in range(256)))
        return list(compress(range(len(marks)), marks))
