"""`python -m tools.fit.refit` fits the evidence anew and writes fitted.json.

It takes half a minute; a test says when it is due.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # small matrices, and the same sums on every machine

from advisor.prediction.fitted import Fitted  # noqa: E402
from advisor.prediction.shipped_predictions import FITTED  # noqa: E402


def refit() -> Fitted:
    """Fit the shipped evidence anew and write fitted.json."""
    from tools.fit.fitted_from import fitted_from
    from tools.fit.shipped_evidence import load_evidence

    fitted = fitted_from(load_evidence())
    FITTED.write_text(fitted.to_json() + "\n", encoding="utf-8")
    return fitted


if __name__ == "__main__":
    made = refit()
    print(f"{FITTED}: version {made.version}, {made.observations} observations")
