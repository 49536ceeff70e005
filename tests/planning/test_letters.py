"""A name in letters that no font has is never printed as boxes without a word."""

from __future__ import annotations

from datetime import date
from functools import partial

import pytest
import typst

from advisor.planning.report.document import Report, Section
from advisor.planning.report.formats.pdf import missing_letters, to_typst


def report_of(text: str) -> Report:
    return Report(
        title="A plan",
        made_on=date(2026, 11, 24),
        sections=(Section(title="Who", blocks=(text,)),),
        rows=(),
        paper="a4",
    )


def test_what_no_font_has_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    own_fonts = partial(typst.query, ignore_system_fonts=True)
    monkeypatch.setattr(typst, "query", own_fonts)
    assert missing_letters("王小 and 王") == ["王", "小"]
    source = to_typst(report_of("for 王小"))
    assert "no font for 2 of the letters below (U+738B, U+5C0F)" in source
    assert "Noto Sans CJK" in source
    assert source.index("no font for 2") < source.index("for 王小")
    assert "no font" not in to_typst(report_of("for Xiaoming Wang"))
