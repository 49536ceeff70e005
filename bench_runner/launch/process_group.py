"""Process groups: torch's own elastic launcher as a child in a new session, locally or by SLURM;
one process alone without it.

The group is watched, held to a time limit, and ended whole: terminate, then kill.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, Literal

from bench_runner.launch import hardware, node_links, processes, shell_variables
from bench_runner.launch.leftovers import in_use
from bench_runner.launch.processes import (
    MARK,
    WATCHED_PARENT,
    end_group,
    log_tail,
    module_command,
    read_end,
    shorten,
)
from bench_runner.launch.trial import Ending, Outcome, TrialSpec
from bench_runner.records.journal import events_since
from bench_runner.settings import configure

EventHandler = Callable[[dict[str, Any]], None]
EndedBy = Literal["cancelled", "timed-out", "flooded"]
MAX_LOG_BYTES = 64 * 1024 * 1024
"""A trial that says more than this has gone wrong, and would fill the disk."""
_POLL_S = 0.2
_TAIL_LINES = 30
_TAIL_BYTES = 256 * 1024
_FULL_BYTES = 1024 * 1024
_FIRST_EXIT = re.compile(r"failed \(exitcode: (-?\d+)\)")
_KILLED = (-9, 137)
_SRUN_KILLED = re.compile(r"^srun: error: .*: (Killed|Out Of Memory)", re.MULTILINE)
_OF_THE_MOMENT = ("No space left on device", "Disk quota exceeded", "Too many open files")
_COMPILERS = 8
_JOIN_S = 120
"""How long the nodes of a job wait for one another."""
_ALONE = {
    **dict.fromkeys(("RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK"), "0"),
    **dict.fromkeys(("WORLD_SIZE", "LOCAL_WORLD_SIZE"), "1"),
    **dict.fromkeys(("GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE"), "1"),
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "0",  # any that is free: nobody else asks for it
}
"""What torchrun tells a rank that is alone."""


def command(spec_file: Path, spec: TrialSpec, environment: Mapping[str, str]) -> list[str]:
    """The command line that starts one process per GPU, by ``local`` torchrun or by ``slurm``.

    A process that is alone starts by itself, seconds earlier: it has nobody to meet.
    """
    if _starts_alone(spec):
        return [*module_command("bench_runner.worker"), str(spec_file)]
    torchrun = [
        *module_command("torch.distributed.run"),
        "--max-restarts=0",
        "--rdzv-backend=c10d",
        # Else torchrun leaves a folder in the temporary one whenever it is killed.
        f"--log-dir={spec_file.parent / 'torchrun'}",
    ]
    worker = ["-m", "bench_runner.worker", str(spec_file)]
    if spec.launcher == "local":
        torchrun += ["--rdzv-endpoint=localhost:0", "--local-addr=127.0.0.1", "--nnodes=1"]
        return [*torchrun, f"--nproc-per-node={spec.gpu_count}", *worker]
    nodes = node_links.node_count(environment)
    if not nodes:
        raise ValueError("--launcher slurm outside a SLURM job: start it inside salloc or sbatch")
    if spec.gpu_count % nodes:
        raise ValueError(
            f"{spec.gpu_count} GPUs cannot be shared evenly by the job's {nodes} nodes: change "
            "--gpus"
        )
    head = environment.get("SLURM_LAUNCH_NODE_IPADDR") or node_links.node_address(
        _first_host(environment.get("SLURM_JOB_NODELIST", ""))
    )
    job = environment["SLURM_JOB_ID"]
    # A step does not inherit its processors, and would run on one core.
    cpus = environment.get("SLURM_CPUS_PER_TASK")
    return [
        *("srun", f"--nodes={nodes}", "--ntasks-per-node=1", "--kill-on-bad-exit=1"),
        *([f"--cpus-per-task={cpus}"] if cpus else []),
        *torchrun,
        f"--nnodes={nodes}",
        f"--nproc-per-node={spec.gpu_count // nodes}",
        # Above the ephemeral range of most clusters' firewalls, and different for each job.
        f"--rdzv-endpoint={head}:{20_000 + int(job) % 10_000}",
        # Its own for each trial: what is left of the last one must not be met.
        f"--rdzv-id={job}-{spec_file.parent.name}",
        f"--rdzv-conf=join_timeout={_JOIN_S}",
        *worker,
    ]


def _starts_alone(spec: TrialSpec) -> bool:
    """Whether one process is all that there is, so that no launcher is needed."""
    return spec.gpu_count == 1 and spec.launcher == "local"


def _first_host(node_list: str) -> str:
    """The first host of a SLURM node list, e.g. ``gpu[03-05,9]`` gives ``gpu03``."""
    name, bracket, rest = node_list.partition("[")
    if not bracket or "," in name:
        return name.split(",")[0]
    return name + rest.split("]")[0].split(",")[0].split("-")[0]


def child_environment(
    base: Mapping[str, str], spec: TrialSpec, work_directory: Path, group: str
) -> dict[str, str]:
    """The environment of a group: offline, its own mark, what its settings need."""
    environment = processes.child_environment(shell_variables.without_other_launchers(base))
    environment |= configure.environment(spec.settings, spec.compute_capability)
    environment |= {
        "PYTHONUNBUFFERED": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        MARK: group,
    }
    nodes = 1
    if spec.launcher == "local":
        environment |= {WATCHED_PARENT: str(os.getpid()), **spec.pinned}
    else:
        nodes = max(1, node_links.node_count(base))
    if _starts_alone(spec):
        environment |= _ALONE
    # torchrun gives each process one thread unless told; offloaded updates run on the CPU.
    threads = max(1, hardware.allowed_processors() // max(1, spec.gpu_count // nodes))
    # Each rank starts as many compilers as there are CPUs, up to 32 of 300 MB and more; and ninja
    # as many again, of 1.4 GB.
    compilers = str(min(threads, _COMPILERS))
    defaults = {
        "OMP_NUM_THREADS": str(threads),
        # What one trial compiled, the next one finds.
        "TORCHINDUCTOR_CACHE_DIR": str(work_directory / "compiled"),
        "TORCHINDUCTOR_COMPILE_THREADS": compilers,
        "MAX_JOBS": compilers,
    }
    return defaults | environment


def run_group(
    spec: TrialSpec,
    *,
    work_directory: Path,
    time_limit_s: float,
    on_event: EventHandler = lambda event: None,
    stop: Event | None = None,
) -> Outcome:
    """Run one trial's process group to its end and say how it ended."""
    stop = stop or Event()
    group = uuid.uuid4().hex
    directory = (work_directory / "trials" / group[:12]).absolute()
    log_file = directory / "log.txt"
    environment = child_environment(dict(os.environ), spec, work_directory.absolute(), group)
    started = time.monotonic()
    nodes = node_links.NodeWatch(environment if spec.launcher == "slurm" else {})
    try:
        directory.mkdir(parents=True)
        spec_file = directory / "spec.pickle"
        spec_file.write_bytes(pickle.dumps(spec))
        words = command(spec_file, spec, environment)
        with log_file.open("wb") as log:
            process = subprocess.Popen(
                words,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=environment,
                cwd=directory,
                start_new_session=True,
            )
    except OSError as error:
        name = f" ({error.filename})" if error.filename else ""
        why = f"the trial could not be started: {error.strerror}{name}; --work names its folder"
        return Outcome(
            status="failed", reason=why, events=(), log_tail="", wall_s=0.0, of_the_moment=True
        )
    events: list[dict[str, Any]] = []
    read_to = 0
    ended_by: EndedBy | None = None

    def drain() -> None:
        nonlocal read_to
        new, read_to = events_since(directory / "events.jsonl", read_to)
        for event in new:
            events.append(event)
            on_event(event)

    with in_use(directory):
        try:
            while process.poll() is None and ended_by is None and not stop.wait(_POLL_S):
                drain()
                if nodes.lost_by(events, log_file):
                    # srun would wait for them for minutes.
                    process.kill()
                    break
                if log_file.exists() and log_file.stat().st_size > MAX_LOG_BYTES:
                    ended_by = "flooded"
                elif time.monotonic() - started > time_limit_s:
                    ended_by = "timed-out"
        finally:
            # Also where the launcher itself ended: it may have left a process behind.
            end_group(process, group)
        drain()
        if stop.is_set():  # the group may have been ended with us, and before us
            ended_by = "cancelled"
        status, reason, of_the_moment = _judged(
            events, ended_by, process.returncode, read_end(log_file, _TAIL_BYTES), time_limit_s
        )
        outcome = Outcome(
            status=status,
            reason=reason,
            events=tuple(events),
            # Without what torchrun says of itself once a worker has failed.
            log_tail="\n".join(log_tail(log_file, _TAIL_LINES, before="failed (exitcode:")),
            wall_s=time.monotonic() - started,
            time_limit_s=time_limit_s if status == "timed-out" else None,
            of_the_moment=of_the_moment,
        )
        outcome = nodes.judged(outcome)
        shorten(log_file)
        if (
            outcome.status == "failed"
            and directory.exists()
            and shutil.disk_usage(directory).free < _FULL_BYTES
        ):
            return replace(
                outcome,
                reason=f"the disk of {directory.parent} is full: {outcome.reason}",
                of_the_moment=True,
            )
        return outcome


def _judged(
    events: Sequence[Mapping[str, Any]],
    ended_by: EndedBy | None,
    exit_code: int,
    log: str,
    time_limit_s: float,
) -> tuple[Ending, str | None, bool]:
    """How a group ended, why, and whether that may be otherwise next time: by what it reported
    first, and by its end second."""
    misfit = next((e for e in events if e["event"] == "probe" and not e["fits"]), None)
    error = next((event for event in events if event["event"] == "error"), None)
    # torchrun names the rank that failed first.
    first = _FIRST_EXIT.search(log)
    killed = exit_code in _KILLED or (first is not None and int(first[1]) in _KILLED)
    if any(event["event"] == "done" for event in events):
        return "ok", None, False
    if ended_by == "cancelled":
        return "cancelled", ended_by, False
    if ended_by == "flooded":
        return "failed", f"its processes wrote more than {MAX_LOG_BYTES >> 20} MiB of log", False
    if ended_by is None and (killed or _SRUN_KILLED.search(log)):
        # Before what the other ranks say: they only missed the one that is gone.
        why = "a process was killed by the system (SIGKILL), most often for lack of host memory"
        return "failed", why, True
    if misfit is not None:
        # Sizes that fitted before it are in the events; the caller times the largest of them.
        fitted = any(event["event"] == "probe" and event["fits"] for event in events)
        why = f"out of memory at micro-batch {misfit['micro_batch_size']}: {misfit['reason']}"
        return "climbed" if fitted else "infeasible", why, False
    if ended_by is not None:
        why = f"the time limit of {time_limit_s:.0f} s passed; the process group was ended"
        return ended_by, why, False
    if error is not None:
        why = f"{error['type']}: {error['message']}"
        return "failed", why, any(words in error["message"] for words in _OF_THE_MOMENT)
    return "failed", f"the process group ended with exit code {exit_code} and no result", False
