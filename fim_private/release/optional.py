"""pandas, which is not needed for anything but frames of pandas."""

from __future__ import annotations

from typing import Any

from fim_private.errors import UsageError


def pandas() -> Any:
    """The library, where it is installed.

    Raises:
        UsageError: it is not.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - optional
    except ImportError:
        raise UsageError("This frame is one of pandas, which is not installed.", "pip install pandas") from None
    return pd
