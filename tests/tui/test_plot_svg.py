"""The exported picture: well-formed whatever the names, complete, and made without Textual."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.png import png_bytes
from advisor.tui.widgets.plot.svg import BACKGROUND, LIMIT, plot_svg
from tests.tui.contrast import contrast_ratio
from tests.tui.points import NAMES, plain, scattered, sixteen

SVG = "{http://www.w3.org/2000/svg}"
VALUES = st.floats(5e-324, 1.7e308)


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_everything_in_the_picture_is_in_the_file() -> None:
    svg = plot_svg(sixteen(), 960, 600, budget_usd=40_000.0, max_days=200.0, selected=7)
    root = ET.fromstring(svg)
    assert (root.get("width"), root.get("height")) == ("960", "600")
    said = texts(root)
    assert {"overall cost, USD (log)", "training time, days (log)"} <= set(said)
    assert {
        *NAMES,
        "— Pareto front",
        "hollow: estimate, not measured",
        "? doubtful",
        "( ) left out",
    } <= set(said)
    assert {"budget $40k", "limit 200 d", "8 × RTX 6000 Ada", "$10k", "100 d"} <= set(said)
    assert len(said) == len([text for text in said if text.strip()])
    titles = [
        t.text
        for tag in ("path", "circle")
        for path in root.iter(f"{SVG}{tag}")
        for t in path.iter(f"{SVG}title")
    ]
    assert len(titles) >= 14, "each has its name where a reader points at it"
    assert "4 × RTX 4090: $14.3k, 98 d" in titles
    named = {text for text in said if " × " in text}
    assert "8 × RTX 6000 Ada" in named
    assert "1 × RTX 4090" not in named, "by default only what matters"


def test_a_picture_that_leaves_the_program_says_what_it_answers() -> None:
    data = dataclasses.replace(sixteen(), heading="Buy 4 × A100 <&>", remark="asked on 1 May 2026")
    said = texts(ET.fromstring(plot_svg(data)))
    assert said[0] == "Buy 4 × A100 <&>"
    assert "asked on 1 May 2026" in said


def test_a_long_heading_is_wrapped_and_the_first_place_named() -> None:
    data = sixteen()
    flags = bytearray(data.flags or bytes(len(data)))
    flags[0] |= PointFlag.FIRST
    long = "Buy 1 × RTX PRO 6000: $29,000; " + "2 × RTX 5090 may be as fast; " * 6
    said = texts(
        ET.fromstring(plot_svg(dataclasses.replace(data, heading=long, flags=bytes(flags))))
    )
    rows = said[: said.index("training time, days (log)")]
    assert " ".join(rows) == long.strip()
    assert len(rows) > 1 and max(map(len, rows)) < 100
    assert data.label(0, None, None) in {text.split(",")[0] for text in said}


def test_a_png_is_one() -> None:
    pytest.importorskip("typst")
    made = png_bytes(plot_svg(sixteen(), 640, 400))
    assert made.startswith(b"\x89PNG\r\n")
    assert int.from_bytes(made[16:20], "big") == 1280


def test_colours_can_be_read_on_the_background() -> None:
    root = ET.fromstring(plot_svg(scattered(200, 8), budget_usd=40_000.0, selected=1))
    for element in root.iter(f"{SVG}text"):
        assert contrast_ratio(element.get("fill", "#222222"), BACKGROUND) >= 4.5
    assert contrast_ratio(LIMIT, BACKGROUND) >= 4.5


def test_everything_stays_inside() -> None:
    root = ET.fromstring(plot_svg(scattered(300, 45), 640, 400, budget_usd=1e5, selected=3))
    for element in root.iter(f"{SVG}text"):
        x, y = float(element.get("x", "nan")), float(element.get("y", "nan"))
        assert 0 <= x <= 640
        assert 0 < y <= 400
    assert any(text.endswith(" more") for text in texts(root)), "the legend leaves room"


@settings(deadline=None)
@given(
    names=st.lists(st.text(max_size=20), min_size=1, max_size=4),
    points=st.lists(st.tuples(VALUES, VALUES, st.integers(0, 31)), max_size=12),
    limits=st.tuples(st.none() | st.floats(), st.none() | st.floats()),
    selected=st.none() | st.integers(-3, 20),
)
def test_any_data_makes_well_formed_xml(
    names: list[str],
    points: list[tuple[float, float, int]],
    limits: tuple[float | None, float | None],
    selected: int | None,
) -> None:
    data = PlotData(
        x_usd=[x for x, _, _ in points],
        y_days=[y for _, y, _ in points],
        y_low_days=[y / 2 for _, y, _ in points],
        y_high_days=[y * 2 for _, y, _ in points],
        series=[i % len(names) for i in range(len(points))],
        gpu_count=[1] * len(points),
        series_names=names,
        flags=bytes(flags for _, _, flags in points),
        x_title=names[0],
    )
    svg = plot_svg(data, 400, 300, budget_usd=limits[0], max_days=limits[1], selected=selected)
    assert ET.fromstring(svg).tag == f"{SVG}svg"
    assert "nan" not in svg.replace("".join(names), "").lower() or "nan" in "".join(names).lower()


def test_hostile_names_are_text() -> None:
    hostile = '</text><script>alert(1)</script>&amp;"\x00\x1b\ufffe\ud800'
    data = dataclasses.replace(
        plain([1.0, 9.0], [1.0, 9.0]), series_names=[hostile], x_title=hostile
    )
    root = ET.fromstring(plot_svg(data, selected=0))
    assert not list(root.iter(f"{SVG}script"))
    assert any(text.startswith('</text><script>alert(1)</script>&amp;"') for text in texts(root))


def test_without_points_it_says_so() -> None:
    assert "no points" in texts(ET.fromstring(plot_svg(PlotData())))


def test_a_hundred_thousand_points_make_a_small_file() -> None:
    assert len(plot_svg(scattered(100_000, 45), 640, 400)) < 1_000_000


def test_a_picture_too_small_to_read_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^the picture is 100 x 400 pixels: make it at least"):
        plot_svg(sixteen(), 100, 400)


def test_no_textual_is_loaded() -> None:
    code = (
        "import sys; import advisor.tui.widgets.plot.svg;"
        "heavy = {'textual', 'numpy', 'scipy', 'duckdb'};"
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
