"""One writer of a journal and one benchmark a device, by locks that a crash releases."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from bench_runner.records import journal, locks
from bench_runner.records.locks import DeviceInUseError, only_benchmark
from tests.bench_runner.test_journal import record

WRITER = (
    "import sys\nfrom pathlib import Path\nfrom bench_runner.records import journal\n"
    "from tests.bench_runner.test_journal import record\n"
    "for n in range(60):\n"
    "    journal.append(Path(sys.argv[1]), record(gpu_count=n + 1, gpu=sys.argv[2]))\n"
)
HOLDER = (
    "import sys, time\nfrom bench_runner.records.locks import only_benchmark\n"
    "with only_benchmark(sys.argv[1:]):\n    print('held', flush=True)\n    time.sleep(600)\n"
)


def test_no_record_of_four_writers_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name])
        for name in ("a", "b", "c", "d")
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0, 0]
    found = journal.read(path)
    assert len(found) == len({each.measurement_id for each in found}) == 240
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_that_keeps_it_is_not_waited_for_and_without_locks_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "records.jsonl"
    for number, written in ((errno.EAGAIN, 0), (errno.ENOLCK, 1)):

        def refuse(*_: object, number: int = number) -> None:
            raise OSError(number, "No")

        monkeypatch.setattr(locks.fcntl, "lockf", refuse)
        monkeypatch.setattr(locks, "WAIT_S", 0.05)
        with suppress(TimeoutError):
            journal.append(path, record())
        assert len(journal.read(path)) == written


@pytest.mark.parametrize("device", ["cpu", "GPU-0b1c2d3e-0000-1111-2222-333344445555"])
def test_one_benchmark_a_device_and_a_kill_releases_it(device: str) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, device], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        with (
            pytest.raises(DeviceInUseError, match=device),
            only_benchmark([device, "GPU-other"], wait_s=0.2),
        ):
            raise AssertionError("two at once")
        with only_benchmark(["GPU-other"], wait_s=0):
            pass
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with only_benchmark([device], wait_s=1):
        pass


def test_a_second_benchmark_is_one_line_and_nothing_is_measured(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, "cpu"], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        tiny = Path(__file__).with_name("tiny.toml")
        done = subprocess.run(
            [
                *(sys.executable, "-m", "bench_runner", "run", "--recipe", str(tiny)),
                *("--settings", "naive", "--device", "cpu", "--yes", "--work", str(tmp_path)),
                *("--records", str(tmp_path / "records.jsonl")),
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
    finally:
        holder.kill()
        holder.wait()
    assert done.returncode == 2
    assert "another benchmark runs on this machine's cpu" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "records.jsonl").exists()
