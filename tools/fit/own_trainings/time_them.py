"""Times many trainings as `advisor bench -- COMMAND` does, one a GPU at a time, into JSON lines.

    PYTHONPATH=. python tools/fit/own_trainings/time_them.py OUT.jsonl MINUTES LANES < commands

Each line of `commands` is a name, the number of GPUs and a command, parted by spaces. What OUT
holds is not run again, so that a run that was cut off is taken up.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path

MOST_S = 150.0


def one(name: str, out: str, words: list[str]) -> None:
    """Time one training in this process and append a line."""
    from bench_runner.own_command.own_run import measure

    stop = threading.Event()
    timer = threading.Timer(MOST_S, stop.set)
    timer.start()
    began = time.monotonic()
    ended = measure(words, stop=stop, window_s=3.0)
    timer.cancel()
    row = {
        "name": name,
        "took_s": round(time.monotonic() - began, 1),
        "code": ended.code,
        "reason": "too slow" if stop.is_set() else ended.reason,
        "run": asdict(ended.run) if ended.run else None,
    }
    with Path(out).open("a") as file:
        file.write(json.dumps(row) + "\n")


def main(out: str, minutes: float, lanes: int) -> None:
    """Start each command on the first GPUs that are free, in their order."""
    until = time.monotonic() + 60 * minutes
    path = Path(out)
    done = {json.loads(line)["name"] for line in path.open()} if path.exists() else set()
    todo = [line.split(maxsplit=2) for line in sys.stdin if line.strip()]
    free = set(range(lanes))
    changed = threading.Condition()
    threads = []

    def run(name: str, gpus: list[int], command: str) -> None:
        log = path.parent / f"{name}.log"
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ",".join(map(str, gpus))}
        words = [sys.executable, __file__, "--one", name, out, *shlex.split(command)]
        with log.open("wb") as file:
            subprocess.run(words, env=environment, stdout=file, stderr=file, check=False)
        text = log.read_text(errors="replace")
        own = re.findall(r"OWN \S+ (\d+\.\d{6})", text)  # several processes write at once
        row = {"name": name, "own_median_s": [float(each) for each in own]}
        row |= {} if own else {"end": text[-1500:]}
        log.unlink()
        with changed:
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")
            free.update(gpus)
            changed.notify()

    for name, count, command in todo:
        if name in done:
            continue
        with changed:
            while len(free) < int(count):
                changed.wait()
            if time.monotonic() > until:
                break
            gpus = sorted(free)[: int(count)]
            free.difference_update(gpus)
        threads.append(threading.Thread(target=run, args=(name, gpus, command)))
        threads[-1].start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
