"""A file that was handed to the wrong command is told as what it is, with the command for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.wrong_file import Kind
from bench_runner.recipes import RECIPES_FOLDER
from bench_runner.records import journal
from tests.store_for_tests import record

GRANT = Path(__file__).parents[2] / "advisor" / "planning" / "grant" / "grant.toml"
MODEL = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2}
QUOTES = "item,price,vendor,date,kind\nRTX 3090,900,shop,2026-11-01,used\n"
RECORD = json.dumps(journal.to_json(record("one")))
TEXTS: dict[str, tuple[str, Kind]] = {
    "config.json": (json.dumps(MODEL), "model"),
    "pretty.json": (json.dumps(MODEL, indent=2), "model"),
    "recipe.toml": ((RECIPES_FOLDER / "bert-base.toml").read_text(), "recipe"),
    "grant.toml": (GRANT.read_text(), "grant"),
    "quotes.csv": (QUOTES, "quotes"),
    "records.jsonl": (RECORD + "\n" + RECORD + "\n", "records"),
}
READS: dict[str, str] = {
    "model": "advisor predict --model",
    "recipe": "advisor predict --model",
    "grant": "advisor plan",
    "quotes": "advisor prices import",
    "records": "advisor merge",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, (text, _) in TEXTS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS: dict[tuple[str, ...], tuple[Kind, ...]] = {
    ("merge",): ("records",),
    ("plan",): ("grant",),
    ("prices", "import"): ("quotes",),
    ("predict", "--gpu", "H100", "--tokens", "10B", "--model"): ("model", "recipe"),
}
"""What each reads."""


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (command, name)
        for command, read in COMMANDS.items()
        for name, (_, kind) in TEXTS.items()
        if kind not in read
    ],
    ids=lambda each: each if isinstance(each, str) else each[0],
)
def test_each_command_names_the_one_that_reads_the_file(
    command: tuple[str, ...],
    name: str,
    folder: Path,
    own_store: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*command, f"./{name}", "--store", str(own_store)]) == 2
    said = capsys.readouterr().err
    assert f"{READS[TEXTS[name][1]]} {name}" in said and said.count("\n") == 1
    assert "newer" not in said and "mend the line" not in said


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("prices.xlsx", b"PK\x03\x04 and more", "is a spreadsheet: save it as CSV"),
        ("a.jsonl", RECORD.encode("utf-16"), "is stored as UTF-16: save it as UTF-8"),
        ("plain.txt", b"what is this", "is neither a store nor JSON lines in UTF-8"),
        ("deep.json", b"[" * 100_000, "is neither a store nor JSON lines in UTF-8"),
        ("half.toml", b"[architecture\n[training]", "is neither a store nor JSON lines in UTF-8"),
    ],
)
def test_what_no_command_reads_is_told_with_what_to_do(
    name: str,
    content: bytes,
    said: str,
    folder: Path,
    own_store: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / name).write_bytes(content)
    assert main(["merge", "--mine", name, "--store", str(own_store)]) == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1


@pytest.mark.parametrize(
    ("mark", "encoding", "first"),
    [
        (",", "utf-8", ""),
        (";", "utf-8-sig", "sep={mark}\r\n"),
        ("\t", "utf-16", '"sep={mark}"\r\n'),
        (";", "cp1252", ""),
    ],
)
def test_quotes_are_known_however_a_spreadsheet_saves_them(
    mark: str,
    encoding: str,
    first: str,
    folder: Path,
    own_store: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = first.format(mark=mark) + QUOTES.replace(",", mark).replace("shop", "Büro")
    (folder / "saved.csv").write_bytes(text.encode(encoding))
    store = ["--store", str(own_store)]
    for command in (["merge"], ["plan"], ["predict", "--gpu", "H100", "--model"]):
        assert main([*command, "./saved.csv", *store]) == 2
        told = capsys.readouterr().err
        assert "holds quotes; they come in with: advisor prices import saved.csv" in told, command
        assert told.count("\n") == 1
    code = main(["prices", "import", "saved.csv", "--dry-run", *store])
    told = capsys.readouterr()
    if encoding == "cp1252":
        assert code == 2 and "is not UTF-8: save the file as CSV UTF-8" in told.err
    else:
        assert code == 0 and "Büro" in told.out


def test_records_with_the_mark_that_some_editors_put_before_them_are_read(
    folder: Path, own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "marked.jsonl").write_text("\ufeff" + RECORD + "\r\n", encoding="utf-8")
    assert main(["merge", "--mine", "marked.jsonl", "--store", str(own_store)]) == 0
    assert "1 new row" in capsys.readouterr().err
