"""SLURM's commands without a cluster behind them: one line, in words of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.benchmark.jobs import slurm
from advisor.parse import InputError

NOT_SET_UP = """\
{name}: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host
{name}: error: fetch_config: DNS SRV lookup failed
{name}: error: _establish_config_source: failed to fetch config
{name}: fatal: Could not establish a configuration source
"""
NO_ANSWER = "{name}: error: Unable to contact slurm controller (connect failure)\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (NOT_SET_UP, "SLURM is not set up on this machine: submit the job where it is"),
        (
            NO_ANSWER,
            "SLURM's controller does not answer: try again, or ask who runs the cluster",
        ),
    ],
)
@pytest.mark.parametrize(
    "ask",
    [
        slurm.submit,
        slurm.expected_start,
        lambda _: slurm.look("7"),
        lambda _: slurm.cancel("7"),
    ],
    ids=["submit", "expected_start", "look", "cancel"],
)
def test_slurm_s_own_words_on_its_configuration_are_not_repeated(
    ask: Callable[[Path], object],
    words: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("sbatch", "scontrol", "scancel"):
        command = tmp_path / name
        command.write_text(f"#!/bin/sh\ncat >&2 <<END\n{words.format(name=name)}END\nexit 1\n")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(InputError) as refused:
        ask(tmp_path)
    assert str(refused.value) == said
