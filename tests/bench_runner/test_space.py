"""The space of Appendix F: 12 combinations on one GPU, 22 on several, each omission explained."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_runner.settings import paper_space


@pytest.mark.parametrize(("gpus", "count"), [(1, 12), (2, 22), (8, 22)])
def test_as_many_as_the_paper_counts(gpus: int, count: int) -> None:
    assert len(paper_space.space(gpus)) == count


@given(st.integers(1, 16), st.integers(1, 4096))
def test_every_micro_batch_makes_up_the_whole_batch(gpus: int, share: int) -> None:
    batch = gpus * share
    for size in paper_space.micro_batch_sizes(batch, gpus):
        assert gpus * size * paper_space.accumulation_steps(batch, gpus, size) == batch


@pytest.mark.parametrize(("batch", "gpus"), [(7, 2), (1, 8)])
def test_a_batch_that_cannot_be_shared_is_refused(batch: int, gpus: int) -> None:
    with pytest.raises(ValueError, match="--gpus"):
        paper_space.micro_batch_sizes(batch, gpus)


def test_methods_name_their_settings() -> None:
    assert [paper_space.method_name(s) for s in paper_space.settings_of_method("naive", 1)] == [
        "naive"
    ]
    assert [
        paper_space.method_name(s) for s in paper_space.settings_of_method("free-lunch", 1)
    ] == ["free-lunch"]
    assert len(paper_space.settings_of_method("paper", 2)) == 22
    with pytest.raises(ValueError, match="naive, free-lunch, paper, all"):
        paper_space.settings_of_method("best", 1)
