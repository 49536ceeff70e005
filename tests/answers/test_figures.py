"""The paper's figures come out of the shipped store, as pictures that a reader can open."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import pytest

from advisor.cli.main import main


def test_all_six_figures_are_drawn_with_one_s_own_times_and_none_is_overwritten(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Own times are ringed in every figure; where no price is known that is said."""
    own = tmp_path / "own.duckdb"
    shutil.copy(store_path, own)
    with duckdb.connect(str(own)) as connection:
        for where in ("gpu_id = 'rtx-a6000' and gpu_count = 4", "gpu_id = 'h200-sxm-141gb'"):
            connection.execute(
                "update measurement set origin = 'local', source_id = 'own' "
                f"where method = 'optimal' and recipe_id = 'pythia-1b' and {where}"
            )
    folder = tmp_path / "figures"
    argv = ["export", "figures", "--out", str(folder), "--store", str(own)]
    assert main(argv) == 0
    assert "Pythia 1B on 1 × H200" in capsys.readouterr().err
    assert len(list(folder.iterdir())) == 12
    for path in folder.iterdir():
        content = path.read_bytes()
        if path.suffix == ".pdf":
            assert content.startswith(b"%PDF-")
        else:
            assert ElementTree.fromstring(content).tag.endswith("svg")
            assert b"<!-- measured here -->" in content, path.name
    assert main(argv) == 2
