"""`python -m advisor.prediction.fit.refit` fits the evidence anew and writes fitted.json.

It takes half a minute; a test says when it is due.
"""

from __future__ import annotations

from advisor.prediction.fitted import Fitted
from advisor.prediction.shipped_predictions import FITTED


def refit() -> Fitted:
    """Fit the shipped evidence anew and write fitted.json."""
    from advisor.prediction.fit.fitted_from import fitted_from
    from advisor.prediction.fit.observations import load_evidence

    fitted = fitted_from(load_evidence())
    FITTED.write_text(fitted.to_json() + "\n", encoding="utf-8")
    return fitted


if __name__ == "__main__":
    made = refit()
    print(f"{FITTED}: version {made.version}, {made.observations} observations")
