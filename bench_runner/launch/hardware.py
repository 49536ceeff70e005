"""Which GPUs this machine has, whether anyone else is using them, and how much
memory and how many processors this process may use.

Asks nvidia-smi, never torch: the process that plans a search stays light.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from bench_runner.launch import shell_variables
from bench_runner.untrusted_text import printable

GIB = 1024**3
_QUERY = (
    "index,uuid,name,memory.total,memory.used,utilization.gpu,compute_cap,driver_version,"
    "power.limit"
)
_IDLE_MEMORY_GIB = 1.0
"""Memory that a driver or a display may hold on an idle GPU."""
_HOST_GIB_PER_GPU = 8.0
_ASK_S = 60.0
_SAID = 200
"""Characters of what nvidia-smi complains of, or of a variable, that are told."""
_DISK_GIB = 5.0
_LIBRARIES = (
    "torch",
    "transformers",
    "accelerate",
    "deepspeed",
    "timm",
    "flash-attn",
    "mamba-ssm",
    "causal-conv1d",
    "triton",
)
_IF_INSTALLED = ("flash-attn-3", "peft", "torchao")
"""Named where they are there: what was measured without them keeps its key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuState:
    """One GPU as nvidia-smi reports it now."""

    index: int
    uuid: str
    name: str
    memory_gib: float
    memory_used_gib: float
    utilisation_percent: float | None
    compute_capability: str
    driver: str
    power_limit_w: float | None
    divided: bool = False
    """By MIG into slices, of which a process is given one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The machine that a search runs on."""

    host: str
    cpu: str
    cpu_count: int
    memory_gib: float
    memory_available_gib: float
    disk_free_gib: float
    gpus: tuple[GpuState, ...]
    versions: dict[str, str | None]


def _nvidia_smi(*arguments: str) -> tuple[str, str | None]:
    """What nvidia-smi prints; "" and why it tells nothing, in words, where it does not."""
    if shutil.which("nvidia-smi") is None:
        return "", "there is no nvidia-smi on this machine's PATH"
    try:
        answer = subprocess.run(
            ["nvidia-smi", *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"nvidia-smi did not answer within {_ASK_S:.0f} s"
    except OSError as error:
        return "", f"nvidia-smi cannot be started ({error.strerror})"
    if answer.returncode == 0:
        return answer.stdout, None
    said = " ".join((answer.stdout + " " + answer.stderr).split())
    clean = printable(said)[:_SAID]
    return "", f"nvidia-smi fails: {clean or f'exit code {answer.returncode}'}"


def _listing() -> tuple[str, str | None]:
    return _nvidia_smi(f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits")


def slice_words(setting: str | None) -> str | None:
    """Why CUDA_VISIBLE_DEVICES names nothing to time, where it names a slice; else None."""
    if setting is None or "MIG-" not in setting.upper():
        return None
    return (
        f"CUDA_VISIBLE_DEVICES is {printable(setting)[:_SAID]!r}, a slice of a GPU divided by MIG, "
        "and a slice's time would stand for no GPU: ask whoever runs the machine for a whole one "
        "(nvidia-smi -mig 0), or name one by number"
    )


def why_no_gpu() -> str:
    """Why this machine shows no GPU to train on, as half a sentence that says how to mend it."""
    setting = os.environ.get("CUDA_VISIBLE_DEVICES")
    if (words := slice_words(setting)) is not None:
        return words
    listing, why = _listing()
    if why is not None:
        return f"{why}: install or load NVIDIA's driver, or start where the GPUs are"
    found = len(parse_gpus(listing))
    if not found or setting is None:
        return "nvidia-smi shows no GPU on this machine: start where the GPUs are"
    plural = "" if found == 1 else "s"
    return (
        f"CUDA_VISIBLE_DEVICES is {setting[:_SAID]!r}, which names none of this machine's {found} "
        f"GPU{plural}: unset it, or name some by number"
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def parse_gpus(listing: str, shared_gib: float = 0.0) -> tuple[GpuState, ...]:
    """The rows of ``nvidia-smi --query-gpu=... --format=csv,noheader,nounits``.

    A GPU that tells no memory of its own shares the host's, ``shared_gib`` (GB10, Jetson).
    """
    gpus = []
    for line in listing.strip().splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(_QUERY.split(",")) or not cells[0].isdecimal():
            continue
        memory_mib = _number(cells[3])
        gpus.append(
            GpuState(
                index=int(cells[0]),
                uuid=cells[1],
                name=cells[2],
                memory_gib=shared_gib if memory_mib is None else memory_mib / 1024,
                memory_used_gib=(_number(cells[4]) or 0.0) / 1024,
                utilisation_percent=_number(cells[5]),
                compute_capability=cells[6],
                driver=cells[7],
                power_limit_w=_number(cells[8]),
            )
        )
    return tuple(gpus)


def visible(gpus: tuple[GpuState, ...], setting: str | None) -> tuple[GpuState, ...]:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves, in its order; as CUDA does, none behind the first
    word that names no GPU."""
    if setting is None:
        return gpus
    chosen: list[GpuState] = []
    for word in (word.strip() for word in setting.split(",")):
        match = [
            gpu
            for gpu in gpus
            if word == str(gpu.index) or (word.startswith("GPU-") and gpu.uuid.startswith(word))
        ]
        if not match or match[0] in chosen:
            break
        chosen.append(match[0])
    return tuple(chosen)


def pinned(gpus: Sequence[GpuState], gpu_count: int, setting: str | None) -> dict[str, str]:
    """What makes CUDA take the very GPUs that a search is about; {} where it has no choice.

    CUDA numbers the fastest first unless told, nvidia-smi by their slots. By number, because
    DeepSpeed reads numbers only.
    """
    if setting is None and len(gpus) == gpu_count:
        return {}
    return {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": ",".join(str(gpu.index) for gpu in gpus[:gpu_count]),
    }


def divided(listing: str) -> frozenset[int]:
    """The numbers of the GPUs that ``nvidia-smi -L`` lists slices of."""
    found, number = set(), None
    for line in listing.splitlines():
        if (start := re.match(r"GPU (\d+):", line)) is not None:
            number = int(start[1])
        elif number is not None and line.strip().startswith("MIG "):
            found.add(number)
    return frozenset(found)


def check_alike(gpus: Sequence[GpuState]) -> None:
    """Raise ValueError where a time on these would stand for no GPU: two kinds, or a slice."""
    names = sorted({gpu.name for gpu in gpus})
    if len(names) > 1:
        raise ValueError(
            f"the GPUs differ ({', '.join(names)}), and a time would stand for neither: choose "
            "some of one kind by CUDA_VISIBLE_DEVICES"
        )
    for gpu in gpus:
        if gpu.divided:
            raise ValueError(
                f"GPU {gpu.index} ({gpu.name}) is divided by MIG, and a slice's time would stand "
                f"for no GPU: ask whoever runs the machine for a whole one (nvidia-smi -i "
                f"{gpu.index} -mig 0)"
            )


def gpu_mark(uuid: str) -> str:
    """Tells one GPU from others of its kind, and leads back to nothing: a digest of the random
    number that its maker gave it."""
    return hashlib.sha256(f"gpu-grant-advisor {uuid}".encode()).hexdigest()[:16]


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def library_versions() -> dict[str, str | None]:
    """Versions of what decides a training time, read from package metadata alone."""
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    for name in _IF_INSTALLED:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def machine(work_directory: Path) -> Machine:
    """This machine: GPUs, links, memory, free disk where the work is done, library versions."""
    import psutil  # merging and exporting records must not need it

    memory = psutil.virtual_memory()
    total, available = memory.total, memory.available
    if (allowed := allowed_memory_bytes()) is not None:
        total, available = min(total, allowed[0]), min(available, allowed[1])
    gpus = parse_gpus(_listing()[0], total / GIB)
    gpus = visible(gpus, os.environ.get("CUDA_VISIBLE_DEVICES"))
    if gpus:
        cut = divided(_nvidia_smi("-L")[0])
        gpus = tuple(replace(gpu, divided=gpu.index in cut) for gpu in gpus)
    existing = next(path for path in (work_directory, *work_directory.parents) if path.exists())
    return Machine(
        host=platform.node(),
        cpu=_cpu_name(),
        cpu_count=allowed_processors(),
        memory_gib=total / GIB,
        memory_available_gib=available / GIB,
        disk_free_gib=shutil.disk_usage(existing).free / GIB,
        gpus=gpus,
        versions=library_versions(),
    )


def concerns(found: Machine, gpu_count: int, offloaded_parameters: int = 0) -> list[str]:
    """What speaks against starting now, a sentence each; [] where nothing does.

    Offloaded states take 16 bytes of host memory for each parameter.
    """
    sentences = []
    for gpu in found.gpus[:gpu_count]:
        if gpu.memory_used_gib > _IDLE_MEMORY_GIB or (gpu.utilisation_percent or 0) > 5:
            sentences.append(
                f"GPU {gpu.index} ({gpu.name}) is in use: {gpu.memory_used_gib:.1f} GiB taken, "
                f"{gpu.utilisation_percent or 0:.0f} % busy; times taken beside other work are "
                "not the machine's"
            )
    needed = _HOST_GIB_PER_GPU * gpu_count + offloaded_parameters * 16 / GIB
    available = found.memory_available_gib
    if available < needed:
        danger = "offloading may fail" if offloaded_parameters else "a process may be killed"
        sentences.append(
            f"{available:.0f} GiB of host memory is free where about {needed:.0f} GiB is needed; "
            f"{danger}"
        )
    if found.disk_free_gib < _DISK_GIB:
        sentences.append(
            f"{found.disk_free_gib:.1f} GiB of disk is free where {_DISK_GIB:.0f} GiB is needed "
            "for compiled kernels and logs"
        )
    return sentences + shell_variables.warnings(os.environ)


# A container or a batch job is given a part of a machine. What it takes beyond that is killed
# (memory) or waits its turn (threads), so the whole machine's figures would mislead.
_ROOT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")


def allowed_processors(root: Path = _ROOT, own: Path = _OWN) -> int:
    """How many processors' time it gets; 1 or more."""
    count = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0)) or count
    for folder in _groups(root, own):
        quota, _, period = _read(folder / "cpu.max").strip().partition(" ")
        if quota.isdecimal() and period.isdecimal():
            count = min(count, max(1, round(int(quota) / int(period))))
    return count


def allowed_memory_bytes(root: Path = _ROOT, own: Path = _OWN) -> tuple[int, int] | None:
    """The most that it may take of memory, and how much of that is free; None without a limit."""
    found: list[tuple[int, int]] = []
    for folder in _groups(root, own):
        if (limit := _read(folder / "memory.max").strip()).isdecimal():
            taken = int(_read(folder / "memory.current") or 0)
            # Files that are held for later are given up for whoever needs room.
            held = re.search(r"^inactive_file (\d+)$", _read(folder / "memory.stat"), re.MULTILINE)
            free = int(limit) - taken + (int(held[1]) if held else 0)
            found.append((int(limit), max(0, min(free, int(limit)))))
    return (min(most for most, _ in found), min(free for _, free in found)) if found else None


def _groups(root: Path, own: Path) -> list[Path]:
    """The folders of the process's own control group, of version 2, and of those above it. In a
    container the path may be the host's, and the group's files lie at the root."""
    lines = _read(own).splitlines()
    paths = [line.removeprefix("0::").lstrip("/") for line in lines if line.startswith("0::")]
    places = [root / path for path in paths]
    return [each for p in places for each in (p, *p.parents) if root in (each, *each.parents)]


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
