"""What a benchmark leaves on a GPU after whatever ends it: seconds until the memory is back.

    python tests/attack/gpu_left_running.py [--device cpu] [--model pythia-160m] [--methods naive]

Starts `advisor bench` and `bench_runner run`, waits until a worker holds the device, ends whom it
started by SIGKILL, SIGTERM and SIGHUP, one after the other, and prints a JSON object for each and
one for all. Exit code 1 where a device was not free within --goal seconds. With --device cpu only
the processes are counted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench_runner.launch.processes import marked  # noqa: E402

TAG = "ATTACK_STARTED_THIS"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)
LEAST_MIB = 400
"""A worker that holds this much more than was held before has its model on the device."""
SLACK_MIB = 64


def memory_mib() -> int:
    """Memory that is held on all GPUs, in MiB, as nvidia-smi says."""
    words = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True)
    return sum(int(line) for line in done.stdout.split())


def workers(tag: str) -> list[int]:
    """Living processes of ours that are workers, torchrun not among them."""
    found = []
    for pid in marked(TAG, tag):
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"bench_runner.worker" in words and b"torch.distributed.run" not in words:
                found.append(pid)
    return found


def wait(until: Callable[[], bool], within_s: float) -> float | None:
    """Seconds until something is so; None where it is not in time."""
    began = time.monotonic()
    while True:
        if until():
            return round(time.monotonic() - began, 2)
        if time.monotonic() - began > within_s:
            return None
        time.sleep(0.05)


def command(who: str, options: argparse.Namespace, folder: Path) -> list[str]:
    """The command line of the one who asks for the benchmark."""
    kept = ["--records", str(folder / "records.jsonl"), "--work", str(folder / "work")]
    kept += ["--device", options.device, "--methods", options.methods, "--yes"]
    if who == "advisor bench":
        store = shutil.copy(options.store, folder / "results.duckdb")
        words = ["advisor", "--store", str(store), "bench", "--model", options.model]
    else:
        words = ["bench_runner", "run", "--recipe", options.model]
    return [sys.executable, "-P", "-m", *words, "--gpus", "1", *kept]


def heeding_sighup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def attempt(who: str, number: signal.Signals, options: argparse.Namespace) -> dict[str, Any]:
    """One benchmark, ended once its worker holds the device; what was seen."""
    on_gpu = options.device == "cuda"
    tag = uuid.uuid4().hex
    before = memory_mib() if on_gpu else 0
    said: dict[str, Any] = {"started": who, "ended_by": number.name, "device": options.device}
    with tempfile.TemporaryDirectory(prefix="attack-") as name:
        folder = Path(name)
        output = folder / "output.txt"
        environment = os.environ | {TAG: tag, "PYTHONPATH": str(ROOT)}
        with output.open("wb") as written:
            asker = subprocess.Popen(
                command(who, options, folder),
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                env=environment,
                cwd=folder,
                start_new_session=True,
                # Who started us may ignore it (nohup), and so would all that we start.
                preexec_fn=heeding_sighup,
            )
        try:

            def holds() -> bool:
                if asker.poll() is not None:
                    return True
                return bool(workers(tag)) and (
                    not on_gpu or memory_mib() - before >= options.least_mib
                )

            waited = wait(holds, options.patience)
            if waited is None or asker.poll() is not None:
                end = output.read_text(errors="replace").strip()[-600:]
                return said | {"held": False, "ok": False, "why": f"no worker was seen: {end}"}
            time.sleep(options.after)
            said |= {"processes": len(marked(TAG, tag)), "workers": len(workers(tag))}
            if on_gpu:
                said["held_mib"] = memory_mib() - before
            if said["workers"] == 0:
                return said | {"held": False, "ok": False, "why": "it had ended: lower --after"}
            os.kill(asker.pid, number)
            began = time.monotonic()

            def since(until: Callable[[], bool]) -> float | None:
                rest = began + 4 * options.goal - time.monotonic()
                return None if wait(until, rest) is None else round(time.monotonic() - began, 2)

            if on_gpu:
                said["memory_back_s"] = since(lambda: memory_mib() <= before + SLACK_MIB)
            said["workers_gone_s"] = since(lambda: not workers(tag))
            with suppress(subprocess.TimeoutExpired):
                asker.wait(1)
            said["all_gone_s"] = since(lambda: not marked(TAG, tag))
            seconds = said["memory_back_s" if on_gpu else "workers_gone_s"]
            return said | {"held": True, "ok": seconds is not None and seconds <= options.goal}
        finally:
            for pid in marked(TAG, tag):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            asker.wait()


def main() -> int:
    """All of them; 1 where one was not free in time or nothing was shown."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--model", default="pythia-160m", help="a recipe or its file")
    parser.add_argument("--methods", default="naive", help="as `advisor bench` has it")
    parser.add_argument("--goal", type=float, default=5.0, help="seconds until it is free")
    parser.add_argument("--after", type=float, default=2.0, help="seconds of work before the end")
    parser.add_argument("--patience", type=float, default=120.0, help="seconds for the start")
    parser.add_argument("--least-mib", type=int, default=LEAST_MIB, help="a model on the GPU")
    parser.add_argument("--who", help="advisor bench or bench_runner run (default: both)")
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory(prefix="attack-") as name:
        from advisor.store import build_store

        options.store = Path(name) / "results.duckdb"
        build_store(options.store)
        for who in [options.who] if options.who else ["advisor bench", "bench_runner run"]:
            for number in SIGNALS:
                found.append(attempt(who, number, options))
                print(json.dumps(found[-1]), flush=True)
    failed = sum(not one["ok"] for one in found)
    key = "memory_back_s" if options.device == "cuda" else "workers_gone_s"
    slowest = max((one[key] for one in found if one.get(key) is not None), default=None)
    print(json.dumps({"tried": len(found), "failed": failed, f"slowest_{key}": slowest}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
