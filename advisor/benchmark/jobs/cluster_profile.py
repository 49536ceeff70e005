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

from advisor.typed_input import InputError, shown
from bench_runner.untrusted_text import MIB, OutsideError, check_toml, text_outside
from price_catalog.csv_table import nearest

MAX_BYTES = MIB
MAX_MINUTES = 60 * 24 * 14
MAX_NODE_GIB = 100_000
_COUNTS = {"cpus_per_gpu": 256, "memory_gib": MAX_NODE_GIB, "time_minutes": MAX_MINUTES}


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
        for what in ("partition", "account", "qos"):
            if (value := getattr(self, what)) is not None:
                checked_name(value, what)
        if self.gpu_type is not None:
            checked_gpu_type(self.gpu_type)
        for module in self.modules:
            checked_name(module, "module")
        if self.constraint is not None:
            checked_constraint(self.constraint)
        if self.login is not None:
            checked_login(self.login)
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
        text = text_outside(path, MAX_BYTES)
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
    for key, value in row.items():
        if key not in known:
            raise InputError(f"{where}: {shown(key)} is not known; {nearest(key, known)}")
        kind = "a whole number" if key in _COUNTS else "a text"
        fits = type(value) is (int if key in _COUNTS else str)
        if key == "modules":
            kind = "a list of texts"
            fits = isinstance(value, list) and all(isinstance(each, str) for each in value)
        if not fits:
            raise InputError(f"{where}: {key} is not {kind}")
    values: dict[str, Any] = {k: tuple(v) if type(v) is list else v for k, v in row.items()}
    try:
        return ClusterProfile(name=name, **values)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def choose_profile(
    profiles: Mapping[str, ClusterProfile], name: str | None, **flags: Any
) -> ClusterProfile:
    """The named cluster, or the only one, with the flags that are given over it. Raises
    InputError."""
    if name is not None:
        if name not in profiles:
            if not profiles:
                raise InputError(
                    f"no cluster is called {shown(name)}: write a table [slurm.{name}] into "
                    f"{settings_file()}"
                    if name.isidentifier()
                    else f"no cluster is called {shown(name)}: {settings_file()} has none"
                )
            raise InputError(f"no cluster is called {shown(name)}; {nearest(name, set(profiles))}")
        profile = profiles[name]
    elif len(profiles) > 1:
        raise InputError(
            f"the settings hold {len(profiles)} clusters ({', '.join(sorted(profiles))}): choose "
            "one with --cluster"
        )
    else:
        profile = next(iter(profiles.values()), ClusterProfile())
    given = {key: value for key, value in flags.items() if value not in (None, ())}
    # The one that is typed stands in for the other one of the settings.
    if "venv" in given and "container" not in given:
        given["container"] = None
    if "container" in given and "venv" not in given:
        given["venv"] = None
    return replace(profile, **given)


_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/+@,-]{0,119}")
_CONSTRAINT = re.compile(r"[A-Za-z0-9_(\[][A-Za-z0-9_.:+@,&|*()\[\]-]{0,199}")
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,119}")
_LOGIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,119}")
MAX_PATH = 500


def checked_name(text: str, what: str) -> str:
    """A word that means nothing to a shell or to sbatch's own parser. Raises InputError."""
    if not _NAME.fullmatch(text):
        raise InputError(
            f"the {what} {shown(text)} is no such name: letters, digits and _ . : / + @ , - only, "
            "no spaces"
        )
    return text


def checked_gpu_type(text: str) -> str:
    """A GPU's type in ``--gpus-per-node=TYPE:N``: one word. Raises InputError."""
    if not is_plain(text):
        raise InputError(
            f"the GPU type {shown(text)} is no such name: letters, digits and _ . + - only (--gpus "
            "says how many)"
        )
    if _SLICE.search(text):
        raise InputError(
            f"the GPU type {shown(text)} is a slice of a GPU divided by MIG, and a slice's time "
            "would stand for no GPU: name a whole one, as sinfo -o %G lists them"
        )
    return text


_SLICE = re.compile(r"\d+g\.\d+gb|(?:^|[_.-])mig(?:$|[_.-])", re.IGNORECASE)
"""How clusters name slices: a100_3g.20gb, 1g.10gb, mig-1g.5gb."""


def is_plain(text: str) -> bool:
    """Whether a name means itself to every shell, however often it is read."""
    return _PLAIN.fullmatch(text) is not None


def checked_constraint(text: str) -> str:
    """A SLURM constraint, such as ``h100&ib`` or ``[rack1|rack2]``. Raises InputError."""
    if not _CONSTRAINT.fullmatch(text):
        raise InputError(
            f"the constraint {shown(text)} is none that SLURM takes: features joined by & or |, "
            "no spaces"
        )
    return text


def checked_login(text: str) -> str:
    """A name that ssh takes: ``you@login.cluster.edu``. Raises InputError."""
    if not _LOGIN.fullmatch(text):
        raise InputError(f"the login {shown(text)} is not of the form you@login.cluster.edu")
    return text


def checked_path(text: str, what: str) -> str:
    """A path, which may hold anything but control characters. Raises InputError."""
    if not text.strip() or not text.isprintable() or len(text) > MAX_PATH or text.startswith("-"):
        raise InputError(f"the {what} {shown(text)} is no path that can be written into a script")
    return text


def shell_path(path: str) -> str:
    """The path as one word of a shell; a leading ``~/`` stays the home of whoever runs it."""
    if path == "~":
        return '"$HOME"'
    if path.startswith("~/"):
        return f'"$HOME"/{shlex.quote(path[2:])}' if path[2:] else '"$HOME"'
    return shlex.quote(path)
