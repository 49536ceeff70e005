"""A name in letters that no font has is never printed as boxes without a word."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from advisor.planning.report import letters
from advisor.planning.report.letters import missing_letters, missing_words
from advisor.planning.report.pdf import to_typst
from advisor.planning.report.report import Paragraph, Report, Section


def report_of(text: str) -> Report:
    return Report(
        title="A plan",
        made_on=date(2026, 11, 24),
        sections=(Section(title="Who", blocks=(Paragraph(words=(text,)),)),),
        rows=(),
        paper="a4",
    )


def test_letters_of_europe_need_no_font_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(codes: set[int]) -> set[str]:
        raise AssertionError("no font of the system is looked for")

    monkeypatch.setattr(letters, "_of_system", none)
    assert missing_letters("Łukasz Müller, Ελένη, Дарья: 100 % × 4 – “x”") == []
    assert missing_words([]) == ""


def test_what_no_font_has_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letters, "_of_system", lambda codes: {"明"})
    assert missing_letters("王小明 and 王") == ["王", "小"]
    source = to_typst(report_of("for 王小明"))
    assert "no font for 2 of the letters below (U+738B, U+5C0F)" in source
    assert "Noto Sans CJK" in source
    assert source.index("no font for 2") < source.index("for 王小明")
    assert "no font" not in to_typst(replace(report_of("for Xiaoming Wang")))


def test_a_font_of_the_system_is_looked_into() -> None:
    # DejaVu comes with matplotlib, not with the system, so that only letters of nobody are sure.
    assert missing_letters("\U0001e900") in ([], ["\U0001e900"])
