"""One Spark session for all tests: two tasks at a time, each tried up to four times."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'fim_private[spark]'")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from fim_private.counting.spark.session import open_session, stop

    if shutil.which("java") is None:
        pytest.skip("no Java: apt-get install openjdk-17-jre-headless")
    # Many small jobs: Java shall not spend longer on compiling than on running.
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    session = open_session("local[2,4]")
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield session
    stop(session)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allowed longer than other tests: the first of them starts Java."""
    for item in items:
        if "/spark/" in str(item.path):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.timeout(600))
