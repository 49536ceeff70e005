"""What others wrote never steers the terminal: as table, CSV, JSON, message or screen."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import duckdb
import pytest

from advisor.cli.main import main
from advisor.tables.plain_values import harmless, to_json
from tests.store_for_tests import taken_as_it_is
from tests.tui.program import running, settled

TINY = Path(__file__).parents[1] / "bench_runner" / "tiny.toml"
EVIL = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\u2066\x9b31m\r"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def evil_store(own_store: Path) -> Path:
    """A store that was written by another program than ours."""
    with duckdb.connect(str(own_store)) as connection:
        connection.execute("UPDATE gpu SET name = ? || name, note = ?", [EVIL, EVIL])
        connection.execute("UPDATE quote SET vendor = ?, note = ?", [EVIL, EVIL])
        connection.execute("UPDATE source SET title = ?, how_measured = ?", [EVIL, EVIL])
        connection.execute("UPDATE recipe SET name = ?", [EVIL])
        connection.execute("UPDATE measurement SET reason = ?, environment = '{}'", [EVIL])
    taken_as_it_is(own_store)  # or its rows would be put right
    return own_store


@pytest.mark.parametrize(
    "words",
    [
        ["rank", "--model", "pythia-1b", "--budget", "40k"],
        ["rank", "--model", "pythia-1b", "--budget", "40k", "--format", "csv"],
        ["rank", "--model", "pythia-1b", "--budget", "40k", "--format", "json"],
        ["predict", "--model", "pythia-1b", "--gpu", "H100"],
        *(["data", "sources", "--format", form] for form in ("table", "csv", "json")),
        *(["data", "gpus", "--format", form] for form in ("csv", "json")),
        ["data", "times"],
        ["prices", "list"],
    ],
    ids=lambda words: "-".join(words),
)
def test_no_answer_steers_the_terminal(
    evil_store: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--store", str(evil_store), *words]) in (0, 1, 2)
    said = capsys.readouterr()
    assert not STEERS.search(said.out), STEERS.search(said.out)
    assert not STEERS.search(said.err)


@pytest.mark.parametrize("name", ["m.toml", "m.json", "m.csv", "m.jsonl"])
def test_no_message_that_quotes_a_file_steers_the_terminal(
    own_store: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / f"a\x1b[2J\u202e{name}"
    folder.mkdir()
    file = folder / name
    texts = {
        "m.toml": 'id = "x"\nname = "\u202ey"\nfamily = "\\u001b[2J"\n"k\\u001b" = 1\n',
        "m.json": json.dumps({"model_type": EVIL, EVIL: 1}),
        "m.csv": f"item,{EVIL[:12]}\n1,2\n",
        "m.jsonl": json.dumps({"table": EVIL}) + "\n",
    }
    file.write_text(texts[name])
    commands = {
        "m.toml": [["predict", "--model", str(file), "--gpu", "H100"], ["plan", str(file)]],
        "m.json": [["predict", "--model", str(file), "--gpu", "H100"]],
        "m.csv": [["prices", "import", str(file)]],
        "m.jsonl": [["merge", str(file)]],
    }
    for words in commands[name]:
        assert main(["--store", str(own_store), *words]) == 2
        said = capsys.readouterr()
        assert said.err
        assert not STEERS.search(said.out + said.err), words


def test_json_keeps_what_it_escapes_and_csv_says_that_something_was_there() -> None:
    assert json.loads(to_json({"a": EVIL})) == {"a": EVIL}
    assert not STEERS.search(to_json({"a": EVIL}))
    assert harmless("Büro 3 · 4 × H100\n\tok") == "Büro 3 · 4 × H100\n\tok"
    (row,) = csv.reader(io.StringIO(harmless("a\x1b[2J,b")))
    assert row == ["a?[2J", "b"]


@pytest.mark.parametrize("key", ["name", "source", "note"])
@pytest.mark.parametrize("evil", ["a\\u202eb", "a\\u001b[2J", "a\\u0085b", "a\u200eb"])
def test_a_recipe_with_such_a_name_is_refused(tmp_path: Path, key: str, evil: str) -> None:
    from bench_runner.recipes import load_recipe

    file = tmp_path / "m.toml"
    kept = [line for line in TINY.read_text().splitlines() if not line.startswith(f"{key} =")]
    file.write_text("\n".join([f'{key} = "{evil}"', *kept]))
    with pytest.raises(ValueError, match="control or direction characters") as caught:
        load_recipe(file)
    assert str(caught.value).isprintable()


async def test_no_screen_steers_the_terminal(evil_store: Path) -> None:
    async with running(evil_store) as pilot:
        for keys in (("f3",), ("enter",), ("escape", "f2"), ("f7",)):
            await pilot.press(*keys)
            await settled(pilot)
            drawn = [
                segment.text
                for strip in pilot.app.screen._compositor.render_strips()
                for segment in strip
                if not segment.control
            ]
            assert drawn
            assert not STEERS.search("".join(drawn)), keys
