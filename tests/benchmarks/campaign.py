"""A list of measurements, one `python -m bench_runner` each, inside a time budget.

    python tests/benchmarks/campaign.py PLAN.txt --out DIR --minutes M

PLAN.txt has one command a line: the words after `python -m bench_runner`, a `#` begins a comment.
Events go to DIR/events.jsonl, records to DIR/records.jsonl; a line that was measured already is
reused, so that the same call again goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import time
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("plan", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--work", type=Path, default=Path("/tmp/bench-work"))
    parser.add_argument("--flags", default="", help="appended to every command")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with (arguments.out / "events.jsonl").open("a") as events:
        for line in arguments.plan.read_text().splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            left = arguments.minutes - (time.monotonic() - began) / 60
            if left < 0.3:
                print(f"no time left for: {line}", flush=True)
                continue
            started = time.monotonic()
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "bench_runner", *words),
                    *("--records", str(arguments.out / "records.jsonl"), "--yes"),
                    *("--work", str(arguments.work), "--minutes", f"{left:.2f}"),
                    *shlex.split(arguments.flags),
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            assert process.stdout is not None
            summary = ""
            for text in process.stdout:
                event = json.loads(text)
                events.write(text)
                events.flush()
                summary = _say(event) or summary
            process.wait()
            seconds = time.monotonic() - started
            print(f"[{seconds:5.0f} s, exit {process.returncode}] {line}", flush=True)
    return 0


def _say(event: dict[str, object]) -> str | None:
    """Print what a person wants to see go by."""
    kind = event["event"]
    if kind in ("trial-finished", "left-out", "reused"):
        record = event["record"]
        assert isinstance(record, dict)
        facts = record["environment"]
        settings = record["settings"]
        print(
            f"  {kind:14} {record['recipe_id']:12} x{record['gpu_count']} {event['label']:32} "
            f"{record['status']:10} mbs {settings['micro_batch_size']} "
            f"step {record['step_s'] or 0:.4f} s {record['training_days'] or 0:.2f} d "
            f"mfu {record['mfu'] or 0:.3f} peak {record['peak_memory_gib'] or 0:.1f} GiB "
            f"wall {facts.get('trial_wall_s', 0)} s "
            f"check {(facts.get('validation') or {}).get('predicted_over_median')} "
            f"{record['reason'] or ''}",
            flush=True,
        )
        if record["status"] == "failed":
            print(str(facts.get("log_tail"))[-1500:], flush=True)
    elif kind in ("error", "validated", "search-finished"):
        print("  " + json.dumps({k: v for k, v in event.items() if k != "best"}), flush=True)
    return str(kind)


if __name__ == "__main__":
    sys.exit(main())
