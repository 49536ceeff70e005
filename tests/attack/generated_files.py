"""Thousands of files that are almost right, given to every command that reads one.

What must not happen: a traceback, "a fault of this program", more than one line of a problem, an
exit code that there is none of, a changed store after a refusal, a control character, a minute.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import itertools
import json
import random
import re
import shutil
import time
import tomllib
from collections.abc import Callable
from copy import deepcopy
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import tomli_w

from advisor.cli.main import main
from bench_runner.records import journal
from tests.store_for_tests import record

TESTS = Path(__file__).parents[1]
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SIGNS = b"0123456789eE+-._\"'{}[]=,:;#\n\t abcntu\\/$"
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, -0.0, 0.5, 1e308, float("nan"),
    float("inf"), "", " ", "x" * 5000, "\x1b[2J", "\u202e", "\ud800", "../../etc/passwd", "=1+1",
    "nan", "inf", "1e999", "2026-13-45", "H100", [], [[]], {}, {"a": {"b": []}}, [None], ["x"],
)  # fmt: skip


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in nested objects and lists."""
    found = [at] if at else []
    if isinstance(value, dict):
        for name, inner in value.items():
            found += paths(inner, (*at, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            found += paths(inner, (*at, place))
    return found


def near(value: Any, dice: random.Random) -> Any:
    """Another value of the same kind, which a check of types alone lets through."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return dice.choice((value + 1, value - 1, value * 2, value * 1000, -value, value // 2))
    if isinstance(value, float):
        return value * dice.choice((0.5, 1.001, 2.0, 1e6, 1e-6, -1.0))
    if isinstance(value, str):
        odd = (value + "x", value.upper(), value[1:], value * 2, f" {value}\n", "H200")
        return dice.choice(odd)
    if isinstance(value, date):
        return dice.choice((date(1, 1, 1), date(9999, 12, 31), value + timedelta(days=1000)))
    if isinstance(value, list):
        return dice.choice((value[::-1], value * 2, value * 300, value[1:]))
    return value


def spoiled(value: Any, dice: random.Random) -> Any:
    """The same with one to three things changed, taken out or put in."""
    value = deepcopy(value)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        places = paths(value)
        if not places:
            break
        *way, last = dice.choice(places)
        inner = value
        for step in way:
            inner = inner[step]
        what = dice.random()
        if what < 0.35:
            inner[last] = near(inner[last], dice)
        elif what < 0.65:
            inner[last] = deepcopy(dice.choice(ODD))
        elif what < 0.8:
            del inner[last]
        elif isinstance(inner, dict):
            name = dice.choice(("x", "id", "", "\u202e", str(last) + "s", "__class__"))
            inner[name] = deepcopy(dice.choice(ODD))
        else:
            inner.append(deepcopy(dice.choice(ODD)))
    return value


def scratched(text: str, dice: random.Random) -> bytes:
    """The same text with some bytes changed, cut or doubled."""
    raw = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(dice.randint(1, 8)):
        if not raw:
            break
        at = dice.randrange(len(raw))
        what = dice.random()
        if what < 0.5:
            # Mostly signs that mean something: what is not UTF-8 is refused before it is looked at.
            raw[at] = dice.choice(SIGNS) if dice.random() < 0.9 else dice.randrange(256)
        elif what < 0.7:
            del raw[at : at + dice.randint(1, 40)]
        elif what < 0.9:
            raw[at:at] = raw[at : at + dice.randint(1, 40)]
        else:
            del raw[at:]
    return bytes(raw)


def _plain(value: Any) -> Any:
    """What TOML can say of it."""
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_plain(inner) for inner in value if inner is not None]
    return value


LLAMA = {
    "model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "vocab_size": 128256,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 8192,
    "max_position_embeddings": 131072, "torch_dtype": "bfloat16", "tie_word_embeddings": True,
}  # fmt: skip
CSV = [
    ["item", "price", "vendor", "date", "kind", "currency", "usd_per_unit", "includes", "note"],
    ["RTX 3090", "900", "a shop", "2026-11-01", "used", "EUR", "1.08", "", "a note"],
    ["H100", "$25,000.00", "another", "2026-10-01", "street", "USD", "", "tax", ""],
    ["RTX 4090", "1700", "a third", "2026-09-30", "used", "", "", "", "=1+1"],
]

Make = Callable[[random.Random], bytes]


def _json_lines(dice: random.Random) -> bytes:
    rows = [journal.to_json(record(f"m-{dice.random()}")) for _ in range(2)]
    if dice.random() < 0.25:
        return scratched("\n".join(json.dumps(row) for row in rows) + "\n", dice)
    return "".join(json.dumps(spoiled(row, dice)) + "\n" for row in rows).encode(
        "utf-8", "surrogatepass"
    )


def _from_toml(*choice: Path) -> Make:
    texts = [path.read_text(encoding="utf-8") for path in choice]

    def make(dice: random.Random) -> bytes:
        text = dice.choice(texts)
        if dice.random() < 0.3:
            return scratched(text, dice)
        try:
            value = _plain(spoiled(tomllib.loads(text), dice))
            return tomli_w.dumps(value).encode("utf-8", "replace")
        except (ValueError, TypeError):
            return scratched(text, dice)

    return make


def _config(dice: random.Random) -> bytes:
    if dice.random() < 0.25:
        return scratched(json.dumps(LLAMA, indent=1), dice)
    return json.dumps(spoiled(LLAMA, dice)).encode("utf-8", "surrogatepass")


def _csv(dice: random.Random) -> bytes:
    rows = [list(row) for row in CSV]
    for _ in range(dice.randint(1, 3)):
        row = dice.choice(rows if dice.random() < 0.1 else rows[1:])
        at = dice.randrange(len(row))
        odd = row[at] if dice.random() < 0.4 else dice.choice(ODD)
        row[at] = str(near(odd, dice) if dice.random() < 0.5 else odd)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    if dice.random() < 0.7:
        return text.getvalue().encode("utf-8", "replace")
    return scratched(text.getvalue(), dice)


def _rows(dice: random.Random) -> bytes:
    """Rows of every table but measurements, as an export writes them; some are spoiled."""
    text = json.dumps(shipped_rows()).replace('"own', f'"own{dice.randrange(10**6)}')
    rows = [spoiled(row, dice) if dice.random() < 0.4 else row for row in json.loads(text)]
    dice.shuffle(rows)
    lines = (json.dumps(row) + "\n" for row in rows)
    return "".join(lines).encode("utf-8", "surrogatepass")


@functools.cache
def shipped_rows() -> tuple[dict[str, Any], ...]:
    """Two of each table that ships, under ids and names of their own."""
    from advisor.store.rows import KEYS
    from advisor.store.shipped_rows import text_tables

    nothing: dict[str, Any] = {"aliases": [], "price_set": None}
    tables = {table: rows[:2] for table, rows in text_tables().items()}
    del tables["measurement"], tables["prediction"]
    found = []
    for table, rows in tables.items():
        for row in rows:
            row = {"table": table, **row, **{k: v for k, v in nothing.items() if k in row}}
            row[KEYS[table][0]] = f"own-{row[KEYS[table][0]]}"
            if table in ("gpu", "host", "recipe"):
                row["name"] = f"own {row['name']}"
            found.append(json.loads(json.dumps(row, default=str)))
    return tuple(found)


OURS = ("advisor: ", "bench_runner: ")
_EXPORT = ("bench_runner", "export", "--recipe", "pythia-160m", "--out", "out", "--records", "{}")


KINDS: dict[str, tuple[str, Make, tuple[str, ...]]] = {
    "record": ("r.jsonl", _json_lines, ("merge", "--mine", "{}")),
    "rows": ("rows.jsonl", _rows, ("merge", "{}")),
    "recipe": (
        "m.toml",
        _from_toml(TESTS / "bench_runner" / "tiny.toml", TESTS / "bench_runner" / "tiny-ssm.toml"),
        ("predict", "--model", "{}", "--gpu", "H100"),
    ),
    "runner-recipe": (
        "m.toml",
        _from_toml(TESTS / "bench_runner" / "tiny.toml", TESTS / "bench_runner" / "tiny-ssm.toml"),
        ("bench_runner", "export", "--out", "out", "--records", "none", "--recipe", "{}"),
    ),
    "runner-record": ("r.jsonl", _json_lines, _EXPORT),
    "config": (
        "config.json",
        _config,
        ("predict", "--model", "{}", "--gpu", "H100", "--tokens", "1B", "--batch", "512"),
    ),
    "quotes": ("q.csv", _csv, ("prices", "import", "{}", "--dry-run")),
    "grant": (
        "grant.toml",
        _from_toml(TESTS.parent / "advisor" / "planning" / "grant" / "grant.toml"),
        ("plan", "{}", "--quick"),
    ),
}
"""The file's name, how one is made, the command that reads it. A grant is read and each fourth's
search built, but no solver is started: what it says does not depend on the file's form."""


def asked(words: list[str]) -> tuple[int, str, str]:
    """One command in this process: exit code, stdout, stderr."""
    from bench_runner.__main__ import main as runner

    out, err = io.StringIO(), io.StringIO()
    asked_of = words[2:3]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = runner(words[3:]) if asked_of == ["bench_runner"] else main(words)
        except Exception as error:
            return -1, "", f"Traceback: {type(error).__name__}: {error}"
    return code, out.getvalue(), err.getvalue()


def no_solver(_: object, say: object) -> object:
    """In the place of a search: the grant was read and the problem stands."""
    from advisor.typed_input import InputError

    raise InputError("the grant was read")


def wrong(code: int, out: str, err: str, took_s: float) -> str | None:
    """What must not be, in words."""
    if code not in (0, 1, 2):
        return f"exit code {code}"
    faults = ("a fault of this program", "ended without an answer", "Traceback")
    if any(each in err + out for each in faults):
        return "a fault of this program"
    if STEERS.search(out + err) or "\x1b" in out + err:
        return "a control character"
    if code == 2 and not err.rpartition("\n")[0].rpartition("\n")[2].startswith(OURS):
        return "refused without a word"
    if took_s > 60:
        return f"{took_s:.0f} s"
    return None


READ_ROWS = (
    ("rank", "--model", "pythia-1b", "--budget", "40k", "--format", "json"),
    ("rank", "--model", "pythia-1b", "--details"),
    *(("data", each) for each in ("times", "settings", "prices", "gpus", "models", "sources")),
    ("prices", "list"),
    ("prices", "builds"),
    ("doctor",),
)


def attack(kind: str, whole: Path, folder: Path, count: int, seed: int) -> list[str]:
    """That many files of a kind; what went wrong with which."""
    from advisor.planning import solver_process
    from advisor.store import own_rows

    name, make, words = KINDS[kind]
    store = Path(shutil.copy(whole, folder / "results.duckdb"))
    faults = []
    search, again = solver_process.Search.run, own_rows.update_predictions
    solver_process.Search.run = no_solver  # type: ignore[assignment,method-assign]
    times = itertools.count()
    # All is predicted again after each tenth only: that takes a second, and the checks none.
    own_rows.update_predictions = lambda at: again(at) if next(times) % 10 == 0 else None
    try:
        for number in range(count):
            dice = random.Random(f"{kind} {seed} {number}")
            path = folder / name
            path.write_bytes(make(dice))
            before = store.stat()
            began = time.monotonic()
            line = (str(path) if word == "{}" else word for word in words)
            code, out, err = asked(["--store", str(store), *line])
            problem = wrong(code, out, err, time.monotonic() - began)
            after = store.stat()
            if kind == "rows" and code == 0:  # what came in is read
                said = asked(["--store", str(store), *dice.choice(READ_ROWS)])
                problem = problem or wrong(*said, time.monotonic() - began)
            kept = before.st_size == after.st_size and before.st_mtime_ns == after.st_mtime_ns
            if code != 0 and not kept:
                problem = problem or "refused, and the store is another"
            if problem:
                copy = shutil.copy(path, folder / f"{kind}-{seed}-{number}{path.suffix}")
                faults.append(f"{copy}: {problem}: {err.strip()[:300]}")
    finally:
        solver_process.Search.run = search  # type: ignore[method-assign]
        own_rows.update_predictions = again
    return faults
