"""The paper's figures come out of the shipped store, as pictures that a reader can open."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from advisor.cli import main


def test_all_six_figures_are_drawn_and_none_is_overwritten(
    store_path: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "figures"
    argv = ["export", "figures", "--out", str(folder), "--store", str(store_path)]
    assert main(argv) == 0
    drawn = sorted(path.name for path in folder.iterdir())
    assert len(drawn) == 12
    for path in folder.iterdir():
        content = path.read_bytes()
        if path.suffix == ".pdf":
            assert content.startswith(b"%PDF-")
        else:
            assert ElementTree.fromstring(content).tag.endswith("svg")
    assert main(argv) == 2
