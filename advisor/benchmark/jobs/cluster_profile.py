"""A cluster as its users know it: the ``[slurm]`` tables of settings.toml, and flags over them."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import msgspec

from advisor.store.row_checks import in_words
from advisor.typed_input import InputError, shown
from bench_runner.untrusted_text import MIB, OutsideError, check_toml, text_outside
from price_catalog.csv_table import nearest

MAX_MINUTES = 60 * 24 * 14
MAX_NODE_GIB = 100_000
MAX_PATH = 500
_COUNTS = {"cpus_per_gpu": 256, "memory_gib": MAX_NODE_GIB, "time_minutes": MAX_MINUTES}
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.:/+@,-]{0,119}", "letters, digits and _ . : / + @ , - only"
_PLAIN = r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,119}", "letters, digits and _ . + - only"
_TEXTS = {
    **dict.fromkeys(("partition", "account", "qos", "module"), _NAME),
    "gpu_type": (_PLAIN[0], f"{_PLAIN[1]} (--gpus says how many)"),
    "constraint": (
        r"[A-Za-z0-9_(\[][A-Za-z0-9_.:+@,&|*()\[\]-]{0,199}",
        "features joined by & or |, no spaces",
    ),
    "login": (r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,119}", "write it as you@login.cluster.edu"),
}
"""What each may hold, so that it means nothing to a shell or to sbatch's own parser. A constraint
is such as ``h100&ib`` or ``[rack1|rack2]``, a type one word in ``--gpus-per-node=TYPE:N``."""
_SLICE = re.compile(r"\d+g\.\d+gb|(?:^|[_.-])mig(?:$|[_.-])", re.IGNORECASE)
"""How clusters name slices: a100_3g.20gb, 1g.10gb, mig-1g.5gb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterProfile:
    """What a job file needs to know of a cluster. None and () are left to the cluster."""

    name: str = ""
    login: str | None = None
    """Where to reach it by ssh: ``you@login.cluster.edu``."""
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    gpu_type: str | None = None
    """As the cluster calls it in ``--gpus-per-node=TYPE:N``."""
    cpus_per_gpu: int = 4
    """What the compiler and the launcher get beside each GPU."""
    memory_gib: int | None = None
    """Host memory of each node."""
    time_minutes: int | None = None
    modules: tuple[str, ...] = ()
    container: str | None = None
    """An Apptainer image that holds what a benchmark needs."""
    venv: str | None = None
    """A virtual environment that does."""
    python: str = "python3"

    def __post_init__(self) -> None:
        """Raises InputError for what could not stand in a script as it is meant."""
        for what in _TEXTS.keys() - {"module"}:
            _check_text(what, getattr(self, what))
        for module in self.modules:
            _check_text("module", module)
        if self.gpu_type is not None and _SLICE.search(self.gpu_type):
            raise InputError(
                f"the GPU type {shown(self.gpu_type)} is a slice of a GPU divided by MIG, and a "
                "slice's time would stand for no GPU: name a whole one, as sinfo -o %G lists them"
            )
        for what in ("container", "venv", "python"):
            if (value := getattr(self, what)) is not None:
                checked_path(value, what)
        for what, limit in _COUNTS.items():
            value = getattr(self, what)
            if value is not None and not 0 < value <= limit:
                raise InputError(f"{what} is {value}: give a whole number from 1 to {limit:,}")
        if self.container is not None and self.venv is not None:
            raise InputError("a container and a venv at once: leave one out")


def settings_file() -> Path:
    """Where the settings lie, unless $ADVISOR_SETTINGS names another file."""
    if named := os.environ.get("ADVISOR_SETTINGS"):
        return Path(named)
    from platformdirs import user_config_path

    return user_config_path("gpu-grant-advisor") / "settings.toml"


def read_profiles(path: Path) -> dict[str, ClusterProfile]:
    """The clusters of a settings file by name; {} where there is none. Raises InputError.

    ``[slurm]`` with keys of its own is the only cluster; ``[slurm.NAME]`` are several.
    """
    try:
        text = text_outside(path, MIB)
        check_toml(text)
        table = tomllib.loads(text).get("slurm", {})
    except FileNotFoundError:
        return {}
    except (OSError, OutsideError, tomllib.TOMLDecodeError, RecursionError) as error:
        why = getattr(error, "strerror", None) or str(error)
        if isinstance(error, RecursionError):
            why = "is nested too deeply"
        raise InputError(f"the settings {path} cannot be read ({why}): mend the file") from None
    if not isinstance(table, dict):
        raise InputError(f"{path}: slurm is not a table: begin it with [slurm]")
    named = {key: value for key, value in table.items() if isinstance(value, dict)}
    own = {key: value for key, value in table.items() if key not in named}
    profiles = {}
    if own:
        profiles["slurm"] = _profile("slurm", own, path)
    for name, row in named.items():
        if not name.isprintable() or not 0 < len(name) <= 60:
            raise InputError(f"{path}: {shown(name)} is no name of a cluster: one line, at most 60")
        profiles[name] = _profile(name, row, path)
    return profiles


def _profile(name: str, row: Mapping[str, Any], path: Path) -> ClusterProfile:
    known = {field.name for field in fields(ClusterProfile)} - {"name"}
    where = f"{path}: [slurm.{name}]"
    for key in row.keys() - known:
        raise InputError(f"{where}: {shown(key)} is not known; {nearest(key, known)}")
    try:
        return msgspec.convert({**row, "name": name}, ClusterProfile)
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: {in_words(str(error), 'slurm', row)}") from None


def choose_profile(
    profiles: Mapping[str, ClusterProfile], name: str | None, **flags: Any
) -> ClusterProfile:
    """The named cluster, or the only one, with the flags that are given over it. Raises
    InputError."""
    if name is not None and name not in profiles:
        near = nearest(name, set(profiles)) if profiles else f"{settings_file()} has none"
        raise InputError(f"no cluster is called {shown(name)}; {near}")
    if name is None and len(profiles) > 1:
        raise InputError(
            f"the settings hold {len(profiles)} clusters ({', '.join(sorted(profiles))}): choose "
            "one with --cluster"
        )
    default = next(iter(profiles.values()), ClusterProfile())
    profile = default if name is None else profiles[name]
    given = {key: value for key, value in flags.items() if value not in (None, ())}
    # The one that is typed stands in for the other one of the settings.
    for typed, other in (("venv", "container"), ("container", "venv")):
        if typed in given:
            given.setdefault(other, None)
    return replace(profile, **given)


def _check_text(what: str, text: str | None) -> None:
    pattern, rule = _TEXTS[what]
    if text is not None and re.fullmatch(pattern, text) is None:
        raise InputError(f"the {what.replace('_', ' ')} {shown(text)} is no such name: {rule}")


def is_plain(text: str) -> bool:
    """Whether a name means itself to every shell, however often it is read."""
    return re.fullmatch(_PLAIN[0], text) is not None


def checked_path(text: str, what: str) -> str:
    """A path, which may hold anything but control characters. Raises InputError."""
    if not text.strip() or not text.isprintable() or len(text) > MAX_PATH or text.startswith("-"):
        raise InputError(f"the {what} {shown(text)} is no path that can be written into a script")
    return text


def shell_path(path: str) -> str:
    """The path as one word of a shell; a leading ``~/`` stays the home of whoever runs it."""
    if path in ("~", "~/"):
        return '"$HOME"'
    if path.startswith("~/"):
        return f'"$HOME"/{shlex.quote(path[2:])}'
    return shlex.quote(path)
