"""Trainings of one's own, real ones on the CPU, run unchanged: timed, ended, nothing left."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from threading import Event

import pytest

from bench_runner.launch.processes import MARK, marked
from bench_runner.own_command import own_run
from bench_runner.own_command.own_run import INJECTED, Ended, measure

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

PYTHON = sys.executable
LOOP = """
    import os, torch
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64))
    optimizer = torch.optim.AdamW(net.parameters())
    data = torch.utils.data.DataLoader(torch.randn(20_000, 64), batch_size=32)
    for epoch in range(1000):
        for x in data:
            loss = (net(x) - x).pow(2).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> object:
    """Runs a script as a user would, with a steps' window of a moment."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(open(os.dup(2), "wb", 0)))  # noqa: SIM115

    def started(
        script: str,
        *launcher: str,
        stop: Event | None = None,
        window_s: float = 0.1,
        say: Callable[[str], None] = lambda words: None,
    ) -> Ended:
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(script))
        ended = measure(
            [*(launcher or (PYTHON,)), str(path)],
            stop=stop or Event(),
            say=say,
            window_s=window_s,
        )
        assert not list((tmp_path / "temporary").iterdir())
        return ended

    return started


@needs_torch
def test_a_plain_loop_is_timed_and_ended(run, tmp_path: Path) -> None:
    """It also has a sitecustomize of its own, its environment and a finally, which all count."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import builtins; builtins.own = 'mine'\n")
    loop = textwrap.indent(textwrap.dedent(LOOP), "    ")
    script = f"""
import os, sys
assert own == "mine" and os.environ["OF_MINE"] == "1"
assert not any(entry.endswith("injected") for entry in sys.path)
assert "torch" not in sys.modules
try:
{loop}
finally:
    open({str(tmp_path / "after")!r}, "w").write("left in order")
"""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path / "own"))
        patch.setenv("OF_MINE", "1")
        ended = run(script)
    found = ended.run
    assert found is not None, ended
    assert ended.code == 0
    assert (tmp_path / "after").read_text() == "left in order"
    assert (found.gpu, found.gpu_count, found.max_steps) == ("cpu", 1, None)
    assert found.parameters == 64 * 256 * 2 + 256 + 64
    assert found.step_s_low <= found.step_s <= found.step_s_high
    assert sum(found.seconds.values()) == pytest.approx(found.step_s)
    assert found.seconds["fp32"] > 0
    assert {"aten::addmm", "aten::gelu"} <= {name for name, _ in found.kernels}


SPAWN = """
import os, torch

def train(rank, folder):
    group = torch.distributed
    group.init_process_group("gloo", f"file://{folder}/meeting", rank=rank, world_size=2)
    torch.set_num_threads(1)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
    optimizer = torch.optim.AdamW(net.parameters())
    for step in range(100_000):
        net(torch.randn(32, 64)).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()

if __name__ == "__main__":
    torch.multiprocessing.spawn(train, args=(os.path.dirname(__file__),), nprocs=2)
"""


@needs_torch
@pytest.mark.timeout(90)
@pytest.mark.parametrize("launcher", ["torchrun", "spawn"])
def test_two_processes_end_together(run, launcher: str) -> None:
    """Those of torch.multiprocessing have no rank in their environment."""
    script = LOOP.replace(
        "optimizer = ",
        "torch.distributed.init_process_group('gloo')\n"
        "    net = torch.nn.parallel.DistributedDataParallel(net)\n    optimizer = ",
    )
    meeting = ("--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0", "--local-addr=127.0.0.1")
    torchrun = ("-m", "torch.distributed.run", "--nproc-per-node=2", *meeting)
    ended = run(script, PYTHON, *torchrun) if launcher == "torchrun" else run(SPAWN)
    assert ended.run is not None, ended
    assert ended.run.gpu_count == 2
    assert ended.code == 0


@needs_torch
def test_a_trainer_says_how_many_steps_it_makes(run) -> None:
    ended = run("""
        import torch
        from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

        torch.set_num_threads(1)
        shape = dict(n_layer=1, n_head=2, n_embd=16, vocab_size=64, n_positions=16)
        model = GPT2LMHeadModel(GPT2Config(**shape))
        rows = [{"input_ids": torch.arange(16), "labels": torch.arange(16)}] * 20_000
        arguments = TrainingArguments(
            output_dir="never", max_steps=5000, report_to=[], save_strategy="no", use_cpu=True,
            disable_tqdm=True, logging_steps=10**6, gradient_accumulation_steps=2,
        )
        Trainer(model=model, args=arguments, train_dataset=rows).train()
    """)
    assert ended.run is not None, ended
    assert ended.run.max_steps == 5000
    assert ended.run.seconds.get("attention", 0) > 0


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        ("import sys; print('wrong learning rate', file=sys.stderr); sys.exit(7)", 7, None),
        ("raise ValueError('no such data set')", 1, None),
        ("import os; os.kill(os.getpid(), 9)", -9, None),
        ("print('no torch here')", 0, "no step of a PyTorch optimiser was seen"),
    ],
)
def test_what_fails_keeps_its_words_and_its_exit_code(
    run, capfd: pytest.CaptureFixture[str], script: str, code: int, words: str | None
) -> None:
    ended = run(script)
    assert (ended.run, ended.code, ended.cancelled) == (None, code, False)
    assert (words is None) == (ended.reason is None)
    assert words is None or words in (ended.reason or "")
    said = capfd.readouterr().err
    for own in ("wrong learning rate", "no such data set"):
        assert (own in said) == (own in script)


@needs_torch
def test_a_training_that_ends_before_a_profile_has_a_time_alone(run) -> None:
    said: list[str] = []
    short = LOOP.replace("range(1000)", "range(1)").replace("20_000", "1280")
    ended = run(short, window_s=60.0, say=said.append)
    assert ended.run is not None, ended
    assert (ended.run.steps_timed > 20, ended.run.settled, ended.run.seconds) == (True, False, {})
    assert "let it run longer" in (ended.run.not_profiled or "")
    assert not any("steps are timed" in words for words in said)


@needs_torch
def test_a_training_that_ends_too_early_has_no_time(run) -> None:
    ended = run(LOOP.replace("range(1000)", "range(1)").replace("20_000", "128"))
    assert (ended.run, ended.code) == (None, 0)
    assert "let it run longer" in (ended.reason or "")


def test_cancelled_nothing_is_left(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even a child in a session of its own that ignores an interrupt."""
    monkeypatch.setattr(own_run, "_INTERRUPT_S", 0.2)
    stop, fifo = Event(), tmp_path / "started"
    os.mkfifo(fifo)
    groups: list[str] = []

    def cancel() -> None:
        groups.append(fifo.read_text().strip())
        stop.set()

    waiter = threading.Thread(target=cancel)
    waiter.start()
    ended = run(
        f"""
        import os, signal, subprocess, sys, time
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = "import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(600)"
        subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        with open({str(fifo)!r}, "w") as file:
            file.write(os.environ[{MARK!r}])
        time.sleep(600)
        """,
        stop=stop,
    )
    waiter.join()
    assert ended.cancelled
    assert groups[0]
    assert marked(MARK, groups[0]) == []


@pytest.mark.parametrize(
    ("world", "touched", "restarts"),
    [
        (8, 1, 0),
        (8, 2, 0),  # each rank of DDP has something on the first GPU, too
        (8, 1, 2),  # torchrun started all ranks again, and those before had been timed
        (1, 8, 0),  # DataParallel
        (1, 8, 1),
    ],
)
def test_each_gpu_counts_once(tmp_path: Path, world: int, touched: int, restarts: int) -> None:
    watched = own_run._Watched(subprocess.Popen(["true"]), tmp_path, lambda text: None)
    for generation in range(restarts + 1):
        for rank in range(world):
            mine = (
                [rank, 0] if (world, touched) == (8, 2) and rank else [*range(rank, rank + touched)]
            )
            event = {
                "event": "timed", "how": "settled", "leads": rank == 0, "rank": rank,
                "restarts": generation, "world": world, "seconds": [0.1 + 0.1 * generation] * 9,
                "began": None, "ended": 1.0, "device": "NVIDIA H100", "devices": len(mine),
                "uuids": [f"GPU-{each}" for each in mine], "allocated_gib": 1.0,
                "reserved_gib": 1.0, "torch": "2.11", "max_steps": None, "parameters": 10,
                "parameter_bytes": 40, "state_bytes": 120, "sharded": False,
            }  # fmt: skip
            file = tmp_path / f"{generation}-{rank}.jsonl"
            file.write_text(json.dumps(event) + "\n")
    watched.process.wait()
    watched.take_new()
    found = watched.ended(cancelled=False).run
    assert found is not None
    assert found.gpu_count == 8
    assert found.step_s == pytest.approx(0.1 + 0.1 * restarts)


def test_a_command_that_is_not_there_is_one_line(run) -> None:
    with pytest.raises(ValueError, match="no-such-program cannot be started"):
        measure(["no-such-program"], stop=Event())


def test_what_is_injected_needs_nothing_but_the_standard_library() -> None:
    text = (INJECTED / "sitecustomize.py").read_text()
    imported = [line for line in text.splitlines() if line.startswith(("import ", "from "))]
    assert {line.split()[1].partition(".")[0] for line in imported} <= {
        "__future__", "atexit", "contextlib", "functools", "importlib", "json", "os", "sys", "time",
        "typing",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "kept"),
    [([0.1] * 17 + [1.7], 17), ([0.1] * 95 + [1.0] * 5, 95), ([0.1] * 16 + [1.0, 1.0], 18)],
)
def test_a_pause_is_no_step_and_many_are(seconds: list[float], kept: int) -> None:
    assert len(own_run.without_pauses(seconds)) == kept
