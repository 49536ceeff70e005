"""Tables to look at: rows that say when they are asked for, and rows of given cells."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from rich.text import Text

from advisor.tui.widgets.rank_table import RankTable
from advisor.tui.widgets.table_layout import (
    Column,
    RowSource,
    RowStyle,
)
from tests.tui.conftest import WidgetApp

COLUMNS = (
    Column(key="rank", title="#", align="right", width=7),
    Column(key="build", title="build", sorts=True, width=12),
    Column(key="cost", title="overall cost", align="right", sorts=True, width=14),
    Column(key="days", title="days", align="right", sorts=True, width=6),
    Column(key="basis", title="basis", width=9),
    Column(key="source", title="where it comes from", width=24),
)
STYLES: tuple[RowStyle | None, ...] = (None, "front", "owned", "doubtful", "dimmed")


@dataclass
class Builds(RowSource):
    """Rows that are computed when they are asked for; ``order`` says which build is where."""

    order: Sequence[int]
    asked: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.order)

    def cells(self, index: int) -> Sequence[str | Text]:
        self.asked.append(index)
        n = self.order[index]
        return (
            str(n + 1),
            Text(f"RTX {3060 + n % 4 * 10} ×{1 << n % 4}", style="bold"),
            f"${20_900 + 37 * n:,}",
            f"{4 + n % 300}",
            "measured" if n % 3 else "predicted",
            f"[i]quote {n}[/i] 用户提供",
        )

    def row_style(self, index: int) -> RowStyle | None:
        return STYLES[self.order[index] % len(STYLES)]

    def row_id(self, index: int) -> Hashable:
        return self.order[index]


@dataclass
class Words(RowSource):
    """Rows of given cells, without identity or style."""

    rows: Sequence[Sequence[str | Text]]

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self, index: int) -> Sequence[str | Text]:
        return self.rows[index]


def lines(table: RankTable) -> list[str]:
    height = table.scrollable_content_region.height
    return [table.render_line(y).text for y in range(height)]


def reversed_lines(table: RankTable) -> list[int]:
    """Which lines of the screen are in reverse video from end to end."""
    return [
        y
        for y in range(table.scrollable_content_region.height)
        if all(s.style is not None and s.style.reverse for s in table.render_line(y))
    ]


def make(source: RowSource | None = None, **state: object) -> WidgetApp:
    table = RankTable(COLUMNS, source)
    for name, value in state.items():
        setattr(table, name, value)
    return WidgetApp(table)


def table_of(app: WidgetApp) -> RankTable:
    assert isinstance(app.widget, RankTable)
    return app.widget
