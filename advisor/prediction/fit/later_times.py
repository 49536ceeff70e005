"""`python -m advisor.prediction.fit.later_times 2026-11-22`: our own times from that day on, as a
fit says them that saw none of them.

They are left out together. The rules and the physics are today's, some of which were chosen when
these times were known, so that the figure flatters by as much. It takes some ten seconds.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # small matrices, and the same sums on every machine

import argparse  # noqa: E402
import statistics  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from datetime import date  # noqa: E402

from advisor.prediction.fit.cross_validate import Fold, Guess, guess, is_own  # noqa: E402
from advisor.prediction.fit.observations import REFERENCE  # noqa: E402
from advisor.prediction.fit.shipped_evidence import load_evidence  # noqa: E402
from bench_runner.published import load_published  # noqa: E402
from bench_runner.typed_numbers import percent  # noqa: E402


def taken_from(day: date) -> Fold:
    """Our own times from this day on, and all else that was timed."""
    later = {r.measurement_id for r in load_published() if (r.measured_on or date.min) >= day}
    timed = [o for o in load_evidence() if o.step_s is not None]
    out = [o for o in timed if o.harness == REFERENCE and o.observation_id in later]
    held = {o.observation_id for o in out}
    seen = (o for o in timed if o.harness != REFERENCE or o.observation_id not in held)
    return Fold(tuple(seen), tuple(o for o in out if is_own(o)))


def report(day: date, guesses: Sequence[Guess]) -> str:
    """How far off they were, and by model the furthest."""
    if not guesses:
        return f"None of our own times is of {day} or later."
    furthest: dict[str, float] = {}
    for each in guesses:
        name = each.observation.workload.workload_id
        furthest[name] = max(furthest.get(name, 0.0), each.error)
    worst = sorted(furthest.items(), key=lambda item: -item[1])
    return (
        f"{len(guesses)} of our own times from {day} on, all left out of the fit: median error "
        f"{percent(statistics.median(g.error for g in guesses), 1)}, "
        f"{percent(statistics.mean(g.covered for g in guesses))} in their 90 % intervals.\n"
        "Furthest by model: "
        + ", ".join(f"{name} {percent(error, 1)}" for name, error in worst)
        + "."
    )


def main() -> None:
    """Fit without them and print what is said of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("day", type=date.fromisoformat, help="as 2026-11-22")
    day = parser.parse_args().day
    fold = taken_from(day)
    print(report(day, guess(fold) if fold.asked else []))


if __name__ == "__main__":
    main()
