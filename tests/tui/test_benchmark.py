"""The benchmark screen, driven by keys, with scripted runners as real child processes."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from advisor.benchmark.progress import Progress
from advisor.cli.main import main
from advisor.store import Store
from advisor.tui.app import AdvisorApp
from advisor.tui.benchmark.benchmark_rows import setting_rows
from advisor.tui.benchmark.benchmark_screen import BenchmarkScreen
from advisor.tui.benchmark.elsewhere_screen import ElsewhereScreen
from advisor.tui.pages.model_picker import ModelPicker
from advisor.tui.pages.screens import ConfirmScreen, RecordScreen
from advisor.tui.program.state import State
from advisor.tui.widgets.choice import Choice
from advisor.tui.widgets.filter_table import Query
from advisor.tui.widgets.lines import LinesView
from bench_runner.launch import hardware
from tests import fake_runner
from tests.store_for_tests import look

pytestmark = pytest.mark.usefixtures("predictions_stay")

FAKE = Path(__file__).parents[1] / "fake_runner.py"
WAIT_S = 60.0


@pytest.fixture(autouse=True)
def _two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "machine", fake_runner.machine)
    monkeypatch.setattr(hardware, "why_no_gpu", lambda: None)
    monkeypatch.setenv("FAKE_GPUS", "2:NVIDIA H200")
    monkeypatch.setenv("ADVISOR_STORE_WAIT", "5")


LEAN = "free lunch + layers compiled + fused loss + trimmed"
"""What the search of all exact settings tries first for a decoder."""


class Driven:
    """The screen and what it says, read as a person would."""

    def __init__(self, pilot: Pilot[None], screen: BenchmarkScreen, store: Path) -> None:
        self.pilot = pilot
        self.screen = screen
        self.store = store

    async def until(self, true: Callable[[], object], what: str) -> None:
        """Let the program go on until something holds."""
        deadline = time.monotonic() + WAIT_S
        while not true():
            assert time.monotonic() < deadline, f"{what}: {self.here!r} {self.said!r}"
            await self.pilot.pause(0.02)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def ready(self) -> None:
        await self.until(lambda: self.screen.plan is not None, "no plan")

    async def start(self) -> None:
        await self.ready()
        await self.press("B")
        assert isinstance(self.pilot.app.screen, ConfirmScreen)
        await self.press("enter")
        await self.until(lambda: self.screen.run is not None or self.screen.ending, "not started")

    async def ended(self) -> None:
        await self.until(lambda: self.screen.ending is not None, "not ended")

    @property
    def here(self) -> str:
        return str(self.screen.query_one("#here", Static).content)

    @property
    def status(self) -> str:
        return str(self.screen.query_one("#status", Static).content)

    @property
    def said(self) -> str:
        return "\n".join(text for text, _ in self.screen.query_one("#said", LinesView).lines)

    def states(self) -> list[str]:
        listed = self.screen.list.listed
        return [] if listed is None else [row.state for row in listed.records]


@pytest.fixture
def open_screen(own_store: Path, tmp_path: Path) -> Callable[..., object]:
    @asynccontextmanager
    async def opened(scenario: str, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Driven]:
        state = State(model="pythia-160m")
        app = AdvisorApp(own_store, state=state, state_path=tmp_path / "state.json")
        async with app.run_test(size=size) as pilot:
            screen = BenchmarkScreen(
                app.size,
                runner=(sys.executable, str(FAKE), scenario),
                folders=(tmp_path / "records.jsonl", tmp_path / "work"),
            )
            app.install_screen(screen, "benchmark")
            await pilot.press("f6")
            await pilot.pause()
            assert app.screen is screen
            yield Driven(pilot, screen, own_store)

    return opened


async def test_nothing_starts_without_a_yes(open_screen: Callable, tmp_path: Path) -> None:
    async with open_screen("good") as driven:
        await driven.ready()
        await driven.press("B")
        page = driven.pilot.app.screen.query_one(LinesView)
        shown = "".join(text for text, _ in page.lines).replace(" ", "")
        for word in ("2×NVIDIAH200", "11min", "512GiB", str(driven.store)):
            assert word in shown
        await driven.press("escape")
        assert driven.pilot.app.screen is driven.screen
        assert not driven.screen.is_busy
        assert not (tmp_path / "records.jsonl").exists()


@pytest.mark.predicts_anew
async def test_a_whole_run_by_keys(open_screen: Callable) -> None:
    async with open_screen("good") as driven:
        await driven.start()
        await driven.ended()
        states = driven.states()
        assert sorted(states) == ["does not fit", "failed", *["left out"] * 18, "time", "time"]
        assert driven.screen.table.cursor == 0, "the best"
        assert LEAN in driven.said.replace("\n", " ")
        assert "22 of 22" in driven.status
        assert f"best 3 days ({LEAN})" in driven.status
        assert "FINISHED" in driven.said
        assert len(look(Store(driven.store)).times("pythia-160m", origin="local")) == 23
        # A failed setting in full, with what it wrote last.
        await driven.press(*["down"] * states.index("failed"), "space")
        assert isinstance(driven.pilot.app.screen, RecordScreen)
        text = "\n".join(t for t, _ in driven.pilot.app.screen.query_one(LinesView).lines)
        assert "time limit of 1200 s" in text
        assert "NCCL watchdog" in text


async def test_a_finished_trial_shows_before_the_others_end(open_screen: Callable) -> None:
    async with open_screen("hang") as driven:
        await driven.start()
        await driven.until(lambda: driven.states()[:2] == ["time", "running"], "nothing runs")
        await driven.until(lambda: "to go" in driven.status, "no remaining time")
        assert "1 of 22" in driven.status
        assert f"best 3 days ({LEAN})" in driven.status
        # It is in the store already, and other screens work meanwhile.
        store = Store(driven.store)
        await driven.until(lambda: look(store).times("pythia-160m", origin="local"), "not kept")
        await driven.press("f3")
        assert driven.pilot.app.screen is not driven.screen
        assert driven.screen.is_busy
        await driven.press("f6")
        assert driven.pilot.app.screen is driven.screen
        assert driven.screen.is_busy
        await driven.press("C")
        await driven.ended()
        assert driven.states()[:2] == ["time", "not tried"]
        assert driven.screen.ending.kind == "cancelled" and "CANCELLED" in driven.said
        assert len(look(store).times("pythia-160m", origin="local")) == 2
        await driven.press("B")
        assert isinstance(driven.pilot.app.screen, ConfirmScreen), "it may be started again"


async def test_what_hears_nothing_is_killed_by_asking_on(open_screen: Callable) -> None:
    async with open_screen("deaf") as driven:
        await driven.start()
        await driven.until(lambda: driven.states()[1] == "running", "second not started")
        await driven.press("C", "C", "C")
        await driven.ended()
        assert driven.screen.ending.kind == "cancelled"
        assert driven.states()[0] == "time"


async def test_a_failure_shows_stderr_the_log_and_one_suggestion(open_screen: Callable) -> None:
    async with open_screen("crash", (120, 40)) as driven:
        await driven.start()
        await driven.ended()
        said = driven.said
        assert "THE BENCHMARK FAILED" in said
        assert "RuntimeError: no more" in said
        assert str(driven.screen.ending.log_file)[-20:] in said.replace("\n", "")
        assert "→ the system killed it" in said
        assert driven.states()[0] == "time"
        assert len(look(Store(driven.store)).times("pythia-160m", origin="local")) == 2


async def test_keys_work_while_a_flood_of_events_comes(open_screen: Callable) -> None:
    async with open_screen("flood") as driven:
        await driven.start()
        for _ in range(5):
            await driven.pilot.press("down")
        assert driven.screen.table.cursor == 5
        await driven.until(lambda: driven.states()[1] == "running", "second not started")
        await driven.press("C")
        await driven.ended()


async def test_quitting_asks_once_and_then_ends_it(open_screen: Callable) -> None:
    async with open_screen("hang") as driven:
        await driven.start()
        await driven.until(lambda: driven.states()[1] == "running", "second not started")
        run = driven.screen.run
        await driven.press("q")
        assert run.process.poll() is None
        await driven.press("q")
    assert run.process.wait(timeout=WAIT_S) is not None
    # The thread that keeps what was measured ends after the screen.
    deadline = time.monotonic() + WAIT_S
    while len(look(Store(driven.store)).times("pythia-160m", origin="local")) < 2:
        assert time.monotonic() < deadline, "the last record is not kept"
        await asyncio.sleep(0.02)


async def test_without_a_gpu_only_the_cpu_is_offered(
    open_screen: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_GPUS", "0:none")
    async with open_screen("good") as driven:
        await driven.ready()
        assert "No GPU here" in driven.here
        assert "never ranks as a GPU" in driven.said
        assert list(driven.screen.query_one("#bench_gpus", Choice).words) == ["cpu"]
        await driven.start()
        await driven.ended()
        times = look(Store(driven.store)).times("pythia-160m", origin="local")
        assert {time_.gpu_id for time_ in times} == {"cpu"}


async def test_without_torch_it_says_how_to_get_it(
    open_screen: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.benchmark.measurement_request.BENCH_PACKAGES", ("no_such_torch",))
    async with open_screen("good") as driven:
        await driven.until(lambda: "pip install" in driven.here, "not said")
        assert "in the folder that you cloned" in driven.here
        assert '".[bench]"' in driven.here
        await driven.press("B")
        assert driven.pilot.app.screen is driven.screen
        assert not driven.screen.is_busy


async def test_fields_change_the_plan_and_wrong_ones_say_so(open_screen: Callable) -> None:
    async with open_screen("good") as driven:
        await driven.ready()
        driven.screen.query_one("#bench_methods", Choice).focus()
        await driven.press("right")
        await driven.until(lambda: driven.states() == ["waiting"], "naive is one setting")
        await driven.press("t", "x")
        await driven.until(lambda: "not a number of minutes" in driven.here, "not refused")
        await driven.press("escape", "B")
        assert driven.pilot.app.screen is driven.screen
        await driven.press("t", "backspace", "5", "escape")
        await driven.until(lambda: "1 setting," in driven.here, "no plan again")
        assert driven.screen.plan.request.minutes == 5


@pytest.mark.predicts_anew
async def test_a_model_that_is_kept_is_listed_and_measured(
    open_screen: Callable, own_store: Path, tmp_path: Path
) -> None:
    tiny = Path(__file__).parents[1] / "bench_runner" / "tiny.toml"
    for model, name in ((tiny, "ours"), ("decoder", "a-bare-size")):
        size = () if model is tiny else ("--parameters", "1B", "--tokens", "20B")
        keeping = ("predict", "--model", str(model), *size, "--keep", name)
        assert main([*keeping, "--store", str(own_store)]) == 0
    async with open_screen("good", (120, 40)) as driven:
        await driven.ready()
        name = driven.screen.query_one(ModelPicker).field
        screen = driven.screen
        for kept in ("a-bare-size", "ours"):
            name.value = kept
            await driven.until(
                lambda kept=kept: screen.plan is not None and screen.plan.recipe_id == kept,
                f"no plan of {kept}",
            )
        await driven.press("B")
        page = driven.pilot.app.screen.query_one(LinesView)
        assert any("GPTNeoXConfig, 16 samples" in text for text, _ in page.lines)
        assert not (tmp_path / "work" / "recipes").exists()
        await driven.press("enter")
        await driven.ended()
        assert len(list((tmp_path / "work" / "recipes").glob("ours-*.toml"))) == 1
        assert look(Store(driven.store)).times("ours", origin="local")


@pytest.mark.parametrize("width", [80, 120, 200])
def test_settings_stay_apart_however_narrow(width: int) -> None:
    shardings = ("ZeRO-1", "zero-2", "zero-3", "fsdp-shard-grad-op", "fsdp-full-shard")
    rest = "layers compiled + fused loss + trimmed"
    labels = [f"{s} + offloading{c} + {rest}" for s in shardings for c in ("", " + checkpointing")]
    rows = setting_rows(Progress(labels=labels, estimated_minutes=1.0), width)
    assert sum(2 + column.width for column in rows.columns) < width
    listed = rows.find(Query((), None, False))
    names = [str(listed.cells(i)[0]) for i in range(len(listed))]
    assert all(len(name) <= rows.columns[0].width for name in names)
    assert len(set(names)) == len(names)


async def test_it_follows_the_question_and_the_chosen_build(open_screen: Callable) -> None:
    async with open_screen("good") as driven:
        await driven.ready()
        app = driven.pilot.app
        await driven.press("f2")
        while app.session.selected_build.gpu_count == 1:
            assert app.session.step(1)
        build = app.session.selected_build
        app.session.change(model="pythia-1b")
        await driven.press("f6")
        assert driven.screen.setup.picker.text == "pythia-1b"
        await driven.press("J")
        begins = {name: app.screen.query_one(f"#{name}", Input).value for name in ("gpu", "gpus")}
        assert begins == {"gpu": build.gpu.name, "gpus": str(build.gpu_count)}


async def test_without_gpus_elsewhere_comes_first_and_shows_the_file(
    open_screen: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FAKE_GPUS", "0:none")
    monkeypatch.setenv("ADVISOR_JOBS", str(tmp_path / "jobs"))
    monkeypatch.setenv("ADVISOR_SETTINGS", str(tmp_path / "settings.toml"))
    (tmp_path / "settings.toml").write_text('[slurm.hopper]\npartition = "long"\n')
    monkeypatch.setenv("PATH", str(tmp_path))  # no SLURM on this machine
    async with open_screen("good", size=(100, 32)) as driven:
        await driven.ready()
        assert driven.here.startswith("No GPU here. Press J: measure on your cluster (SLURM)")
        assert "never ranks as a GPU" in driven.said
        await driven.press("J")
        page = driven.pilot.app.screen
        assert isinstance(page, ElsewhereScreen)

        def file() -> str:
            return "\n".join(text for text, _ in page.query_one("#below", LinesView).lines)

        def said() -> str:
            return str(page.query_one("#said", Static).content)

        await driven.until(lambda: page.studied is not None, "no file")
        assert page.query_one("#place", Choice).words["hopper"] == "cluster hopper"
        assert "#SBATCH --partition=long" in file()
        assert not (tmp_path / "jobs").exists()
        page.query_one("#gpu", Input).value = "H100"
        page.query_one("#place", Choice).value = "sky"
        page.typed()
        await driven.until(
            lambda: page.studied is not None and "accelerators:" in file(), "no task"
        )
        await driven.pilot.pause()
        assert "at most $" in file() and "accelerators:" in file()
        await driven.press("f5")
        await driven.until(lambda: "Written. Type:" in said(), "not written")
        assert "sky launch --yes" in said()
        await driven.until(lambda: (tmp_path / "jobs").exists(), "no folder")
        page.query_one("#gpus", Input).value = "many"
        await driven.until(
            lambda: page.studied and not page.studied.keep, "a number that is none was taken"
        )
        assert "GPUs" in said()
