"""A user's own times as another lab may read them: raw seconds, versions, GPU, power, energy.

What is handed on is a list of what may be, not of what may not: no host name, no user, no path.
"""

from __future__ import annotations

import getpass
import json
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from advisor.parse import InputError, shown
from advisor.store.merge.lab_records import SHARED
from advisor.store.rows import Values, measurement_of
from bench_runner.records.journal import to_json, with_id
from bench_runner.records.measurement import Measurement
from bench_runner.records.record_checks import is_name

_FACTS = (
    "cpu",
    "cpu_count",
    "host_memory_gib",
    "driver",
    "gpus",
    "climb_to",
    "not_a_gpu",
    "gpu_s",
    "trial_wall_s",
    "parameters",
    "settled",
    "warm_up_s",
    "skipped_updates",
    "step_s_by_rank",
    "slowest_rank",
    "timed_passes",
    "peak_reserved_gib",
    "peak_tflops",
    "energy_j",
    "energy",
    "flops_per_step_lowest",
    "flops_per_step_full",
    "not_free_lunch_because",
)
_PARTS: Mapping[str, tuple[str, ...]] = {
    "versions": (),
    "gpu": (),
    "climb": ("samples_per_s", "at_the_end"),
    "validation": ("step_s", "median_s", "predicted_over_median"),
    "nodes": ("count", "gpus_each", "nccl_network"),
    "exchange": (
        "node_count",
        "bytes",
        "all_ranks_s",
        "between_nodes_s",
        "between_nodes_gb_s",
        "fabric",
    ),
    "about": (
        "device",
        "devices",
        "torch",
        "cuda",
        "cudnn",
        "nccl",
        "backend",
        "compiled",
        "compilation",
        "loss",
        "inputs",
        "weights",
        "attention",
        "sdpa_kernel",
        "tf32",
        "capability",
        "usable_memory_gib",
        "memory_limit_gib",
    ),
}
"""Objects of a record's environment, and what of each may be handed on; () is all of it."""


def checked_lab(name: str) -> str:
    """A lab's name as it stands beside its records. Raises InputError."""
    text = name.strip()
    if not is_name(text) or len(text) > 60 or "/" in text or "\\" in text:
        raise InputError(
            f"the lab {shown(name)} is no name: one line of at most 60 letters, such as "
            "'NLP lab, University of X'"
        )
    return text


def shared_lines(
    tables: Mapping[str, Iterable[Values]], lab: str, recipes: Iterable[str]
) -> tuple[list[str], int]:
    """The user's own times and timed trainings as JSON lines for other labs, and how many records
    stay here."""
    known = frozenset(recipes)
    lines, left_out = {}, 0
    trainings = [row for row in tables["recipe"] if row["family"] == "own"]
    for row in trainings:
        line = json.dumps({"table": "recipe", **row}, separators=(",", ":"))
        lines[row["recipe_id"]] = line
    timed = {row["recipe_id"] for row in trainings}
    for row in tables["measurement"]:
        if row["recipe_id"] in timed:
            continue  # its definition says as much
        record = measurement_of(row)
        if _can_be_shared(record, known):
            shared = _to_shared(record, lab)
            lines[shared.measurement_id] = json.dumps(to_json(shared), separators=(",", ":"))
        else:
            left_out += 1
    return list(lines.values()), left_out


def _can_be_shared(record: Measurement, recipes: frozenset[str]) -> bool:
    """Whether others could recompute it: a time with its raw seconds, of a recipe that ships."""
    return (
        record.status == "ok"
        and record.timing == "synchronised"
        and record.lab is None
        and record.settings is not None
        and record.method not in ("optimal", "changes-training")
        and bool(record.sync_pass_s)
        and bool(record.update_s)
        and record.recipe_id in recipes
        and not record.environment.get("memory_limit_gib")
    )


def _to_shared(record: Measurement, lab: str) -> Measurement:
    """The record as it is handed on, under the id of what is left of it."""
    facts: dict[str, Any] = {}
    held = record.environment
    names = _names_of(held)
    for key in _FACTS:
        if key in held:
            facts[key] = _without(held[key], names)
    for key, wanted in _PARTS.items():
        part = held.get(key)
        if isinstance(part, Mapping):
            facts[key] = {
                name: _without(value, names)
                for name, value in part.items()
                if not wanted or name in wanted
            }
    return with_id(
        replace(record, reason=None, source_id=SHARED.source_id, environment=facts, lab=lab)
    )


def _names_of(environment: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of this machine and of whoever uses it, which may stand anywhere in a text."""
    found = {str(environment.get("host") or ""), platform.node()}
    with suppress(OSError, KeyError, ImportError):
        found.add(getpass.getuser())
    short = {name.partition(".")[0] for name in found}
    return tuple(name for name in found | short if len(name) > 2 and name != "root")


def _without(value: Any, names: tuple[str, ...]) -> Any:
    """The value with None for each text that holds a name or looks like a path."""
    if isinstance(value, Mapping):
        return {str(key): _without(each, names) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without(each, names) for each in value]
    if isinstance(value, str):
        words = value.lower()
        path = words.startswith(("/", "~")) or " /" in words or ":\\" in words or "=/" in words
        return None if path or any(name.lower() in words for name in names) else value
    return value
