"""Import pandas, which only pandas frames need."""

from __future__ import annotations

from typing import Any

from fim_private.errors import UsageError


def pandas() -> Any:
    """The pandas module.

    Raises:
        UsageError: pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - optional
    except ImportError:
        raise UsageError("This needs pandas, which is not installed.", "pip install pandas") from None
    return pd
