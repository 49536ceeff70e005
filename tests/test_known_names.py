"""What is known instead of an unknown name, where two rooms say it that know nothing of each other:
the runner, which a bare node runs alone, and the catalogue."""

from __future__ import annotations

import pytest

from bench_runner.recipe_table import nearest as of_recipe
from price_catalog.csv_table import nearest as of_catalogue


@pytest.mark.parametrize("word", ["H10", "h100", "QUADRO", "zzz", ""])
@pytest.mark.parametrize("count", [1, 3, 12, 13, 40])
def test_a_recipe_says_it_as_the_catalogue_does(word: str, count: int) -> None:
    known = ["Quadro RTX 8000", "H100", "H10, of two parts", "A100"][:count]
    known += [f"name {n}" for n in range(count - len(known))]
    for listed_by in ("", "advisor data gpus"):
        assert of_recipe(word, known, listed_by) == of_catalogue(word, known, listed_by)
