"""What a person types for a job, checked before it stands in a script: names, paths, times."""

from __future__ import annotations

import re
import shlex

from advisor.parse import InputError, shown

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
    return text


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
