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
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, Literal

from bench_runner.launch import hardware, node_links, processes, shell_variables
from bench_runner.launch.leftovers import in_use
from bench_runner.launch.processes import (
    MARK,
    MAX_LINE,
    WATCHED_PARENT,
    end_group,
    module_command,
    read_end,
    shorten,
)
from bench_runner.launch.trial import Ending, Outcome, TrialSpec
from bench_runner.records.journal import events_since
from bench_runner.settings import configure

EventHandler = Callable[[dict[str, Any]], None]
EndedBy = Literal["cancelled", "timed-out"]
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


def command(
    spec_file: Path, gpu_count: int, launcher: str, environment: dict[str, str]
) -> list[str]:
    """The command line that starts one process per GPU, by ``local`` torchrun or by ``slurm``.

    A process that is alone starts by itself, seconds earlier: it has nobody to meet.
    """
    if starts_alone(gpu_count, launcher):
        return [*module_command("bench_runner.worker"), str(spec_file)]
    torchrun = [*module_command("torch.distributed.run"), "--max-restarts=0"]
    worker = ["-m", "bench_runner.worker", str(spec_file)]
    # Else torchrun leaves a folder in the temporary one whenever it is killed.
    logs = spec_file.parent / "torchrun"
    if launcher == "local":
        return [
            *torchrun,
            "--rdzv-backend=c10d",
            "--rdzv-endpoint=localhost:0",
            "--local-addr=127.0.0.1",
            "--nnodes=1",
            f"--nproc-per-node={gpu_count}",
            f"--log-dir={logs}",
            *worker,
        ]
    if launcher != "slurm":
        raise ValueError(f"--launcher is {launcher!r}: choose local or slurm")
    nodes = node_links.node_count(environment)
    if not nodes:
        raise ValueError("--launcher slurm outside a SLURM job: start it inside salloc or sbatch")
    if gpu_count % nodes:
        raise ValueError(
            f"{gpu_count} GPUs cannot be shared evenly by the job's {nodes} nodes: change --gpus"
        )
    head = environment.get("SLURM_LAUNCH_NODE_IPADDR") or node_links.node_address(
        _first_host(environment.get("SLURM_JOB_NODELIST", ""))
    )
    # Above the ephemeral range of most clusters' firewalls, and different for each job.
    port = 20_000 + int(environment["SLURM_JOB_ID"]) % 10_000
    words = ["srun", f"--nodes={nodes}", "--ntasks-per-node=1", "--kill-on-bad-exit=1"]
    if cpus := environment.get("SLURM_CPUS_PER_TASK"):
        # A step does not inherit it, and would run on one core.
        words.append(f"--cpus-per-task={cpus}")
    return [
        *words,
        *torchrun,
        f"--log-dir={logs}",
        f"--nnodes={nodes}",
        f"--nproc-per-node={gpu_count // nodes}",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint={head}:{port}",
        # Its own for each trial: what is left of the last one must not be met.
        f"--rdzv-id={environment['SLURM_JOB_ID']}-{spec_file.parent.name}",
        f"--rdzv-conf=join_timeout={_JOIN_S}",
        *worker,
    ]


def starts_alone(gpu_count: int, launcher: str) -> bool:
    """Whether one process is all that there is, so that no launcher is needed."""
    return gpu_count == 1 and launcher == "local"


def _first_host(node_list: str) -> str:
    """The first host of a SLURM node list, e.g. ``gpu[03-05,9]`` gives ``gpu03``."""
    name, bracket, rest = node_list.partition("[")
    if not bracket:
        return node_list.split(",")[0]
    if "," in name:
        return name.split(",")[0]
    return name + rest.split("]")[0].split(",")[0].split("-")[0]


def child_environment(
    base: dict[str, str],
    *,
    work_directory: Path,
    spec: TrialSpec,
    compute_capability: str | None,
    group: str,
    launcher: str = "local",
    pinned: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The environment of a group: offline, its own mark, what its settings need.

    ``pinned``: the GPUs that the search is about, as bench_runner.launch.hardware says them.
    """
    environment = processes.child_environment(shell_variables.without_other_launchers(base))
    environment |= configure.environment(spec.settings, compute_capability)
    environment["PYTHONUNBUFFERED"] = "1"
    environment["HF_HUB_OFFLINE"] = "1"
    environment["TRANSFORMERS_OFFLINE"] = "1"
    environment["TOKENIZERS_PARALLELISM"] = "false"
    environment[MARK] = group
    if launcher == "local":
        environment[WATCHED_PARENT] = str(os.getpid())
        environment |= pinned or {}
    if starts_alone(spec.gpu_count, launcher):
        environment |= _ALONE
    # torchrun gives each process one thread unless told; offloaded updates run on the CPU.
    here = spec.gpu_count // max(1, node_links.node_count(base) if launcher == "slurm" else 1)
    threads = max(1, hardware.allowed_processors() // max(1, here))
    environment.setdefault("OMP_NUM_THREADS", str(threads))
    # What one trial compiled, the next one finds.
    environment.setdefault("TORCHINDUCTOR_CACHE_DIR", str(work_directory / "compiled"))
    # Each rank starts as many compilers as there are CPUs, up to 32 of 300 MB and more; and ninja
    # as many again, of 1.4 GB.
    compilers = str(min(threads, _COMPILERS))
    environment.setdefault("TORCHINDUCTOR_COMPILE_THREADS", compilers)
    environment.setdefault("MAX_JOBS", compilers)
    return environment


def run_group(
    spec: TrialSpec,
    *,
    work_directory: Path,
    time_limit_s: float,
    on_event: EventHandler = lambda event: None,
    stop: Event | None = None,
    launcher: str = "local",
    compute_capability: str | None = None,
    pinned: Mapping[str, str] | None = None,
) -> Outcome:
    """Run one trial's process group to its end and say how it ended."""
    stop = stop or Event()
    group = uuid.uuid4().hex
    directory = (work_directory / "trials" / group[:12]).absolute()
    log_file = directory / "log.txt"
    environment = child_environment(
        dict(os.environ),
        work_directory=work_directory.absolute(),
        spec=spec,
        compute_capability=compute_capability,
        group=group,
        launcher=launcher,
        pinned=pinned,
    )
    events: list[dict[str, Any]] = []
    read_to = 0
    started = time.monotonic()
    ended_by: EndedBy | None = None
    wrong: str | None = None
    nodes = node_links.NodeWatch(environment if launcher == "slurm" else {})
    try:
        directory.mkdir(parents=True)
        spec_file = directory / "spec.pickle"
        spec_file.write_bytes(pickle.dumps(spec))
        words = command(spec_file, spec.gpu_count, launcher, environment)
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
        reason = f"the trial could not be started: {error.strerror}{name}; --work names its folder"
        return Outcome(
            status="failed", reason=reason, events=(), log_tail="", wall_s=0.0, of_the_moment=True
        )

    with in_use(directory):

        def drain() -> str | None:
            """Hand on what is new; what is wrong with it, in words."""
            nonlocal read_to
            new, read_to = events_since(directory / "events.jsonl", read_to)
            for event in new:
                events.append(event)
                on_event(event)
            if _size(log_file) > MAX_LOG_BYTES:
                return f"its processes wrote more than {MAX_LOG_BYTES >> 20} MiB of log"
            return None

        try:
            while process.poll() is None:
                if stop.wait(_POLL_S):
                    ended_by = "cancelled"
                    break
                wrong = drain()
                if wrong is not None:
                    break
                if nodes.lost_by(events, log_file):
                    # srun would wait for them for minutes.
                    process.kill()
                    break
                if time.monotonic() - started > time_limit_s:
                    ended_by = "timed-out"
                    break
        finally:
            # Also where the launcher itself ended: it may have left a process behind.
            end_group(process, group)
        wrong = wrong or drain()
        outcome = _outcome(
            events=tuple(events),
            ended_by=ended_by,
            wrong=wrong,
            exit_code=process.returncode,
            first_exit=first_exit(log_file),
            log_tail=log_tail(log_file),
            wall_s=time.monotonic() - started,
            time_limit_s=time_limit_s,
        )
        outcome = nodes.judged(outcome)
        shorten(log_file)
        if outcome.status == "failed" and _is_full(directory):
            return replace(
                outcome,
                reason=f"the disk of {directory.parent} is full: {outcome.reason}",
                of_the_moment=True,
            )
        return outcome


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_full(directory: Path) -> bool:
    try:
        return shutil.disk_usage(directory).free < _FULL_BYTES
    except OSError:
        return False


def log_tail(path: Path, lines: int = _TAIL_LINES) -> str:
    """The last lines of a log, without what torchrun says of itself once a worker has failed."""
    text = read_end(path, _TAIL_BYTES)
    before, marker, _ = text.partition("failed (exitcode:")
    if marker:
        text = before.rpartition("\n")[0]
    return "\n".join(line[-MAX_LINE:] for line in text.splitlines()[-lines:]).strip()


def first_exit(path: Path) -> int | None:
    """The exit code of the rank that failed first, as torchrun names it in the log."""
    found = _FIRST_EXIT.search(read_end(path, _TAIL_BYTES))
    return int(found[1]) if found else None


def _outcome(
    *,
    events: tuple[dict[str, Any], ...],
    ended_by: EndedBy | None,
    wrong: str | None,
    exit_code: int | None,
    first_exit: int | None,
    log_tail: str,
    wall_s: float,
    time_limit_s: float,
) -> Outcome:
    """Judge a group by what it reported first and by how it ended second."""
    kinds = {event["event"] for event in events}
    misfit = next((e for e in events if e["event"] == "probe" and not e["fits"]), None)
    fitted = any(event["event"] == "probe" and event["fits"] for event in events)
    error = next((event for event in events if event["event"] == "error"), None)
    status: Ending = "failed"
    reason: str | None = None
    of_the_moment = False
    killed = exit_code in _KILLED or first_exit in _KILLED or _SRUN_KILLED.search(log_tail)
    if ended_by == "cancelled":
        status, reason = ended_by, ended_by
    elif wrong is not None:
        reason = wrong
    elif "done" in kinds:
        status = "ok"
    elif killed and ended_by is None:
        # Before what the other ranks say: they only missed the one that is gone.
        of_the_moment = True
        reason = "a process was killed by the system (SIGKILL), most often for lack of host memory"
    elif misfit is not None:
        # Sizes that fitted before it are in the events; the caller times the largest of them.
        status = "infeasible"
        reason = f"out of memory at micro-batch {misfit['micro_batch_size']}: {misfit['reason']}"
        if fitted:
            status = "climbed"
    elif ended_by == "timed-out":
        status = ended_by
        reason = f"the time limit of {time_limit_s:.0f} s passed; the process group was ended"
    elif error is not None:
        reason = f"{error['type']}: {error['message']}"
        of_the_moment = any(words in error["message"] for words in _OF_THE_MOMENT)
    else:
        reason = f"the process group ended with exit code {exit_code} and no result"
    return Outcome(
        status=status,
        reason=reason,
        events=events,
        log_tail=log_tail,
        wall_s=wall_s,
        time_limit_s=time_limit_s if status == "timed-out" else None,
        of_the_moment=of_the_moment,
    )
