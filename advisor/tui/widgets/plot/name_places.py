"""Where a name is written in the picture: beside its point, and over nothing that counts."""

from __future__ import annotations

from advisor.tui.widgets.plot.canvas import Canvas
from advisor.tui.widgets.plot.frame import Frame

_MARKS = frozenset({"point", "label", "limit-name", "dot"})
_BARRED = frozenset({*_MARKS, "budget"})
"""What a name never covers: points, other names, and the lines of the two limits."""
_NAMED = frozenset({"point", "label"})
_BUSY = frozenset({*_BARRED, "interval", "front", "crosshair"})
"""What it keeps clear of while there is another place."""
NAME_WIDTH = 34
"""A name is at most this long, and at most two fifths of the picture."""
LEAST_NAME_WIDTH = 23
"""But as long as "1 × RTX PRO 6000, $29k" where that is half of it."""

Cell = tuple[int, int]
"""Column and row of the canvas."""


class NamePlaces:
    """The places that are free on a canvas, as it is drawn by now."""

    def __init__(self, canvas: Canvas, frame: Frame) -> None:
        self._canvas = canvas
        self._frame = frame

    @property
    def name_width(self) -> int:
        """How long a name may be."""
        columns = self._frame.columns
        least = LEAST_NAME_WIDTH if columns >= 2 * LEAST_NAME_WIDTH else 12
        return min(NAME_WIDTH, max(least, columns * 2 // 5))

    def covers_no_mark(self, x: int, y: int, width: int) -> bool:
        """Whether so many cells from here on lie in the picture, with no point or name in them."""
        cells = range(x, x + width)
        inside = self._frame.left < x and cells.stop <= self._frame.right
        return inside and not any(self._canvas.role(cell, y) in _MARKS for cell in cells)

    def beside(self, point: Cell, width: int) -> Cell | None:
        """Beside the point, above or below it: the first place that is free, if any is."""
        places = self._around(point, width)
        for barred in (_BUSY, _BARRED):
            for place in places:
                if self._is_free(point, place, width, barred):
                    return place
        return None

    def _around(self, point: Cell, width: int) -> list[Cell]:
        """Where a name of so many cells would be read with its point, the best place first."""
        (x, y), frame = point, self._frame
        beside = [(x + 2, y), (x - 1 - width, y)]
        others = [
            (start, y + rows)
            for rows in (-1, 1, -2, 2)
            for start in (x + 1, x - width, x - width // 2)
        ]
        return [
            (start, row)
            for start, row in (*beside, *others)
            if start > frame.left
            and start + width <= frame.right
            and frame.top <= row < frame.bottom
        ]

    def _is_free(
        self, point: Cell, place: Cell, width: int, barred: frozenset[str], clear: int = 1
    ) -> bool:
        """Whether a name there covers nothing of this kind, and is ``clear`` cells away from it;
        its own point does not count."""
        start, row = place
        cells = ((column, row) for column in range(start - clear, start + width + clear))
        return not any(self._canvas.role(*cell) in barred for cell in cells if cell != point)

    def sure(self, point: Cell, width: int) -> Cell | None:
        """A place for a name that must be there. Where none is free it covers a dot, which has no
        name of its own; else it is the nearest that is not read with another point. None where
        nothing is so wide."""
        (x, y), frame = point, self._frame
        for place in self._around(point, width):
            if self._is_free(point, place, width, _BARRED - {"dot"}):
                return place
        # A cell is twice as high as it is wide.
        places = sorted(
            (
                (start, row)
                for row in range(frame.top, frame.bottom)
                for start in range(frame.left + 1, frame.right - width + 1)
                if row != y or not start <= x < start + width
            ),
            key=lambda at: (abs(at[0] + width / 2 - x) / 2 + 2 * abs(at[1] - y), at),
        )
        for barred, clear in ((_BARRED, 3), (_BARRED - {"dot"}, 1), (_NAMED, 0)):
            for place in places:
                if self._is_free(point, place, width, barred, clear):
                    return place
        return None
