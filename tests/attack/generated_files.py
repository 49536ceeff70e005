"""Thousands of files that are almost right, given to every command that reads one.

What must not happen: a traceback, "a fault of this program", more than one line of a problem, an
exit code that there is none of, a changed store after a refusal, a control character, a minute.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from advisor.cli.main import main
from bench_runner import journal
from tests.store_for_tests import record

TESTS = Path(__file__).parents[1]
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
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


def spoiled(value: Any, dice: random.Random) -> Any:
    """The same with one to three things changed, taken out or put in."""
    value = json.loads(json.dumps(value))
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        places = paths(value)
        if not places:
            break
        *way, last = dice.choice(places)
        inner = value
        for step in way:
            inner = inner[step]
        what = dice.random()
        if what < 0.6:
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
            raw[at] = dice.randrange(256)
        elif what < 0.7:
            del raw[at : at + dice.randint(1, 40)]
        elif what < 0.9:
            raw[at:at] = raw[at : at + dice.randint(1, 40)]
        else:
            del raw[at:]
    return bytes(raw)


def toml_of(value: dict[str, Any]) -> str:
    """As TOML where it can say it."""
    import tomli_w

    def plain(inner: Any) -> Any:
        if isinstance(inner, dict):
            return {str(k): plain(v) for k, v in inner.items() if v is not None}
        if isinstance(inner, list):
            return [plain(each) for each in inner if each is not None]
        return inner

    return tomli_w.dumps(plain(value))


def _toml(path: Path) -> dict[str, Any]:
    import tomllib

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [plain(inner) for inner in value]
        return value if isinstance(value, int | float | str | bool) else str(value)

    found: dict[str, Any] = plain(tomllib.loads(path.read_text(encoding="utf-8")))
    return found


LLAMA = {
    "model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16, "vocab_size": 128256,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 8192,
    "max_position_embeddings": 131072, "torch_dtype": "bfloat16", "tie_word_embeddings": True,
}  # fmt: skip
CSV = [
    ["item", "price", "vendor", "date", "kind", "currency", "usd_per_unit", "includes", "note"],
    ["RTX 3090", "900", "a shop", "2026-11-01", "used", "EUR", "1.08", "", "a note"],
    ["H100", "$25,000.00", "another", "2026-10-01", "street", "", "", "", ""],
]

Make = Callable[[random.Random], bytes]


def _json_lines(dice: random.Random) -> bytes:
    rows = [journal.to_json(record(f"m-{dice.random()}")) for _ in range(2)]
    if dice.random() < 0.25:
        return scratched("\n".join(json.dumps(row) for row in rows) + "\n", dice)
    return "".join(json.dumps(spoiled(row, dice)) + "\n" for row in rows).encode(
        "utf-8", "surrogatepass"
    )


def _from_toml(path: Path) -> Make:
    def make(dice: random.Random) -> bytes:
        if dice.random() < 0.3:
            return scratched(path.read_text(encoding="utf-8"), dice)
        try:
            return toml_of(spoiled(_toml(path), dice)).encode("utf-8", "replace")
        except (ValueError, TypeError):
            return scratched(path.read_text(encoding="utf-8"), dice)

    return make


def _config(dice: random.Random) -> bytes:
    if dice.random() < 0.25:
        return scratched(json.dumps(LLAMA, indent=1), dice)
    return json.dumps(spoiled(LLAMA, dice)).encode("utf-8", "surrogatepass")


def _csv(dice: random.Random) -> bytes:
    rows = [list(row) for row in CSV]
    for _ in range(dice.randint(1, 3)):
        row = dice.choice(rows)
        if row:
            row[dice.randrange(len(row))] = str(dice.choice(ODD))
    text = "\n".join(",".join(row) for row in rows) + "\n"
    return text.encode("utf-8", "replace") if dice.random() < 0.7 else scratched(text, dice)


def _rows(dice: random.Random) -> bytes:
    """Rows of the store's other tables, as an export writes them."""
    quote = {
        "table": "quote", "quote_id": "own:1", "item_kind": "gpu", "item_id": "rtx-3090",
        "price_usd": "900.00", "kind": "used", "vendor": "a shop", "quoted_on": "2026-11-01",
        "source_id": "own", "url": None, "note": None, "price_set": None, "currency": "USD",
    }  # fmt: skip
    source = {
        "table": "source", "source_id": "own", "title": "Mine", "url": None,
        "how_measured": "by hand", "licence": None, "published_on": None,
    }  # fmt: skip
    return "".join(json.dumps(spoiled(row, dice)) + "\n" for row in (source, quote)).encode(
        "utf-8", "surrogatepass"
    )


KINDS: dict[str, tuple[str, Make, tuple[str, ...]]] = {
    "record": ("r.jsonl", _json_lines, ("merge", "{}")),
    "rows": ("rows.jsonl", _rows, ("merge", "{}")),
    "recipe": (
        "m.toml",
        _from_toml(TESTS / "bench_runner" / "tiny.toml"),
        ("predict", "--model", "{}", "--gpu", "H100"),
    ),
    "runner-recipe": (
        "m.toml",
        _from_toml(TESTS / "bench_runner" / "tiny.toml"),
        ("bench_runner", "hardware", "--recipe", "{}", "--format", "json"),
    ),
    "runner-record": ("r.jsonl", _json_lines, ("bench_runner", "merge", "{}")),
    "config": (
        "config.json",
        _config,
        ("predict", "--model", "{}", "--gpu", "H100", "--tokens", "1B", "--batch", "512"),
    ),
    "quotes": ("q.csv", _csv, ("prices", "import", "{}", "--dry-run")),
    "grant": (
        "grant.toml",
        _from_toml(TESTS.parent / "advisor" / "planning" / "grant" / "grant.toml"),
        ("plan", "{}"),
    ),
}
"""The file's name, how one is made, the command that reads it."""


def asked(words: list[str]) -> tuple[int, str, str]:
    """One command in this process: exit code, stdout, stderr."""
    from bench_runner.__main__ import main as runner

    out, err = io.StringIO(), io.StringIO()
    of_runner = "bench_runner" in words[2:3]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = runner(words[3:]) if of_runner else main(words)
        except Exception as error:
            return -1, "", f"Traceback: {type(error).__name__}: {error}"
    return code, out.getvalue(), err.getvalue()


def wrong(code: int, out: str, err: str, took_s: float) -> str | None:
    """What must not be, in words."""
    if code not in (0, 1, 2):
        return f"exit code {code}"
    if "a fault of this program" in err or "Traceback" in err + out:
        return "a fault of this program"
    if STEERS.search(out + err):
        return "a control character"
    if code == 2 and not err.startswith(("advisor: ", "bench_runner: ")):
        return "refused without a word"
    if took_s > 60:
        return f"{took_s:.0f} s"
    return None


def attack(
    kind: str, store: Path, folder: Path, count: int, seed: int, seconds: float = 1e9
) -> tuple[int, int, list[str]]:
    """So many files of a kind, or as many as the time allows; how many were tried and accepted,
    and what went wrong with which."""
    name, make, words = KINDS[kind]
    accepted, tried, faults = 0, 0, []
    ends = time.monotonic() + seconds
    for number in range(count):
        if time.monotonic() > ends:
            break
        tried += 1
        dice = random.Random(f"{kind} {seed} {number}")
        path = folder / name
        path.write_bytes(make(dice))
        began = time.monotonic()
        code, out, err = asked(
            ["--store", str(store), *(word.replace("{}", str(path)) for word in words)]
        )
        accepted += code == 0
        if problem := wrong(code, out, err, time.monotonic() - began):
            kept = folder / f"{kind}-{seed}-{number}{path.suffix}"
            kept.write_bytes(path.read_bytes())
            faults.append(f"{kept}: {problem}: {err.strip()[:300]}")
    return tried, accepted, faults
