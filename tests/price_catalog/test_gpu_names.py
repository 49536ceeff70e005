from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from price_catalog.gpu_names import find_gpu, index_gpus, normalise
from price_catalog.load import load_catalog

INDEX = index_gpus(load_catalog().gpus)
SPELLINGS = sorted(
    {alias for gpu in INDEX.values() for alias in (gpu.gpu_id, gpu.name, *gpu.aliases)}
)


@pytest.mark.parametrize(
    ("spelling", "gpu_id"),
    [
        ("3090", "rtx-3090"),
        ("geforce rtx3090", "rtx-3090"),
        ("RTX A6000", "rtx-a6000"),
        ("a100", "a100-sxm4-80gb"),
        ("A100 80GB", "a100-sxm4-80gb"),
        ("H100 SXM", "h100-sxm5-80gb"),
        ("h200", "h200-sxm-141gb"),
    ],
)
def test_finds_a_gpu_by_any_spelling(spelling: str, gpu_id: str) -> None:
    assert find_gpu(spelling, INDEX).gpu_id == gpu_id


@given(st.sampled_from(SPELLINGS), st.sampled_from(["", "NVIDIA ", "nvidia geforce ", "Tesla-"]))
def test_case_hyphens_spaces_and_the_maker_do_not_matter(spelling: str, maker: str) -> None:
    wanted = find_gpu(spelling, INDEX)
    for variant in (spelling.upper(), spelling.lower(), spelling.replace(" ", "-")):
        assert find_gpu(maker + variant, INDEX) is wanted


@given(st.text())
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize("spelling", ["A100 40GB", "RTX 6000", "V100", "", "NVIDIA", "cpu"])
def test_what_could_be_two_gpus_or_none_is_refused(spelling: str) -> None:
    with pytest.raises(
        ValueError, match=f"GPU '{spelling}' (is not known; .+|could be several: write .+)"
    ):
        find_gpu(spelling, INDEX)


def test_offers_the_nearest_name() -> None:
    with pytest.raises(ValueError, match=r"did you mean .*'H100 PCIe'"):
        find_gpu("H100 PCI", INDEX)


@pytest.mark.parametrize("spelling", ["H20", "MI25", "A1", "RTX 50"])
def test_a_part_of_a_number_is_no_other_gpu(spelling: str) -> None:
    with pytest.raises(ValueError, match=f"GPU '{spelling}' is not known; "):
        find_gpu(spelling, INDEX)


@pytest.mark.parametrize("spelling", ["RTX 5080", "GeForce RTX 5080", "Gaudi 3"])
def test_of_a_gpu_that_people_ask_for_it_is_said_what_is_missing(spelling: str) -> None:
    with pytest.raises(ValueError, match=f"GPU '{spelling}' is not in the catalogue: no "):
        find_gpu(spelling, INDEX)


def test_the_beginning_of_several_names_is_told_all_of_them() -> None:
    versions = "'V100 16GB PCIe' or 'V100 16GB SXM' or 'V100 32GB PCIe' or 'V100 32GB SXM'"
    with pytest.raises(ValueError, match=f"GPU 'V100' could be several: write {versions}$"):
        find_gpu("V100", INDEX)
