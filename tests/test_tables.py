"""Rows as text: what a spreadsheet must not run, and what it must still compute with."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from advisor.tables.plain_values import to_json
from advisor.tables.table_formats import guarded, to_csv, unguarded
from advisor.tables.text_table import to_table
from advisor.tui.widgets.lines import PLAIN, wrapped

RUN_BY_SPREADSHEETS = "=+-@＝＋－＠"
cells = st.text(st.sampled_from("=+-@＝＋－＠\t\r\n '\",;\u00a0a1")) | st.text(max_size=20)


def read_as_a_spreadsheet(text: str) -> list[list[str]]:
    """The cells, a line ending wherever a carriage return or a line feed is not quoted."""
    return list(csv.reader(io.StringIO(text, newline="")))


@given(st.lists(st.tuples(cells, cells), max_size=4))
@example([("＝1+1", "x")])
@example([("\n=1+1", "x")])
@example([("a\r=1+1", "x")])
@example([(' "=1+1', "x")])
def test_no_cell_of_a_table_is_run(rows: list[tuple[str, str]]) -> None:
    text = to_csv([dict(zip("ab", row, strict=True)) for row in rows], ["a", "b"]) + "\n"
    read = read_as_a_spreadsheet(text)
    assert len(read) == len(rows) + 1
    for row in read:
        for cell in row:
            assert not cell.strip(' \t\r\n\u00a0"').startswith(tuple(RUN_BY_SPREADSHEETS))


@given(cells)
def test_the_guard_comes_off_again(text: str) -> None:
    assert unguarded(guarded(text)) == text


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx", "＝1", "'=1", " =1", '"=1']
)
def test_what_would_be_run_gets_an_apostrophe(text: str) -> None:
    assert guarded(text) == "'" + text


@given(st.integers() | st.decimals(allow_nan=False, allow_infinity=False, places=2))
@example(-5)
@example(Decimal("-0.5"))
def test_numbers_stay_numbers(number: int | Decimal) -> None:
    assert to_csv([{"n": number}], ["n"]) == f"n\n{number}"


@pytest.mark.parametrize("names", [["a"], ["a", "%s", "é,", '"', "b\nc"]])
@pytest.mark.parametrize("count", [1, 2, 11])
def test_rows_of_one_kind_are_written_as_the_libraries_do(names: list[str], count: int) -> None:
    cells = [0, -0.0, 1, 1.0, 1e300, True, None, "", "é", "a,", 'b"%s', "1\n2", "1"]
    rows = [dict(zip(names, cells[at:] + cells[:at], strict=False)) for at in range(count)]
    assert to_json(rows) == json.dumps(rows, indent=2, ensure_ascii=False)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(["yes" if cell is True else cell for cell in row.values()] for row in rows)
    assert to_csv(rows, names) + "\n" == out.getvalue()


NAMES = st.text("abc ", min_size=1, max_size=40).map(lambda text: text.strip() or "a")


@given(
    st.lists(st.tuples(NAMES, NAMES, st.integers(0, 10**6), NAMES), min_size=1, max_size=4),
    st.integers(40, 110),
)
def test_a_table_is_no_wider_than_its_terminal(
    rows: list[tuple[str, str, int, str]], width: int
) -> None:
    names = ("what", "seller", "usd", "kind")
    table = [dict(zip(names, row, strict=True)) for row in rows]
    lines = to_table(table, names, width=width, spare=("kind",)).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("what")
    assert len(lines) == len(rows) + 1
    if "seller" not in lines[0] or "usd" not in lines[0]:
        assert "kind" not in lines[0]  # it goes first


@pytest.mark.parametrize("width", range(14, 60))
def test_a_screen_fills_its_lines_by_the_same_rule(width: int) -> None:
    said = "  A faster one is 12 % dearer: advisor rank --gpus rtx-3090-ti shows 8 × B300"
    pieces = wrapped([(said, PLAIN)], width)
    assert " ".join(text.strip() for text, _ in pieces) == said.strip()
    assert all(text.startswith("  ") for text, _ in pieces)
    for whole in ("12 %", "8 × B300", "rtx-3090-ti"):
        assert any(whole in text for text, _ in pieces)
