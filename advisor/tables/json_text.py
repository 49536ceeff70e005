"""Values and rows as JSON: money as plain numbers, days as ISO dates, never NaN."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import Any

from advisor.tables.plain_values import json_escaped


def to_json(value: Any) -> str:
    """JSON with money as plain numbers and days of the calendar as ISO dates; never NaN.

    What could steer a terminal is written as JSON's own escapes.
    """
    text = json.dumps(value, default=_plain, indent=2, ensure_ascii=False, allow_nan=False)
    return json_escaped(text)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")
