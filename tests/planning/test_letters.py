"""A name in letters that no font has is never printed as boxes without a word."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial

import pytest
import typst

from advisor.planning.report.formats.pdf import missing_letters, missing_words, to_typst
from advisor.planning.report.pictures import svg_of
from advisor.planning.report.report import Paragraph, Report, Section


def report_of(text: str) -> Report:
    return Report(
        title="A plan",
        made_on=date(2026, 11, 24),
        sections=(Section(title="Who", blocks=(Paragraph(words=(text,)),)),),
        rows=(),
        paper="a4",
    )


def test_letters_of_europe_are_never_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> str:
        raise AssertionError("the typesetter is not asked")

    monkeypatch.setattr(typst, "query", none)
    assert missing_letters("Łukasz Müller, Ελένη, Дарья: 100 % × 4 – “x”") == []
    assert missing_words([]) == ""


def test_what_no_font_has_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    own = partial(missing_letters, of_system=False)
    monkeypatch.setattr("advisor.planning.report.formats.pdf.missing_letters", own)
    assert own("王小 and 王") == ["王", "小"]
    source = to_typst(report_of("for 王小"))
    assert "no font for 2 of the letters below (U+738B, U+5C0F)" in source
    assert "Noto Sans CJK" in source
    assert source.index("no font for 2") < source.index("for 王小")
    assert "no font" not in to_typst(replace(report_of("for Xiaoming Wang")))


def test_what_comes_with_the_typesetter_is_not_missing() -> None:
    """Its fonts have more than Europe's letters: nobody is told to install what is there."""
    assert missing_letters("लंबे मॉडल, עברית → “x” ≥ 2", of_system=False) == []
    assert missing_letters("科😀न", of_system=False) == ["科", "😀"]
    for odd in ("\\王", '"王', "#王", "$王$"):
        assert missing_letters(odd, of_system=False) == ["王"]


def test_a_picture_has_letters_that_its_font_has_not_as_text(
    recwarn: pytest.WarningsRecorder,
) -> None:
    """And no library says so on the screen."""

    def drawn(name: str) -> str:
        return svg_of(lambda figure: figure.add_subplot().set_title(name), 3)

    assert "<text" not in drawn("Pythia Größe")
    foreign = drawn("परम 富岳 a<b")
    assert "परम 富岳 a&lt;b</text>" in foreign
    assert not recwarn.list
