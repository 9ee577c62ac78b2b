"""A Spark session that checks for Java first, prints nothing, and fails without showing data.

Spark's log and its exceptions quote rows of the data and values of variables. So the log goes only where Spark's own
configuration sends it, and our errors do not quote its exceptions.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from fim_private.errors import FimPrivateError, InputError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterator["pa.RecordBatch"]

OLDEST_JAVA = 17
SPARK_STEP = "Install it: pip install 'fim_private[spark]'."
JAVA_STEP = "Install Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless), or point JAVA_HOME at it."
ROWS_AT_ONCE = 2**16
LOCAL_ADDRESS = "127.0.0.1"
LOCAL_FOLDER, OURS = "spark.local.dir", "fim-private-"
PACKAGE_HOME = str(Path(__file__).resolve().parents[3])


def open_session(master: str) -> SparkSession:
    """Start a Spark session; call `stop` when done.

    Args:
        master: as Spark writes it: local[N], spark://HOST:PORT, yarn, k8s://...

    With a local master everything listens only on 127.0.0.1, nobody else can read what Spark puts on disk, and its web
    page is off. On a cluster the executors need this package installed, with its dependencies and the extra `spark`.

    Raises:
        UsageError: pyspark or Java is missing or too old, or there is no such master.
    """
    # Keep Spark's Python log and its warnings about pandas, which is not used here, off the terminal.
    for name in ("py4j", "pyspark"):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    _check_pyspark()
    _check_java()
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    settings = {
        "spark.master": master,
        "spark.app.name": "fim_private",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
    }
    if master.startswith("local"):
        settings |= {
            "spark.driver.host": LOCAL_ADDRESS,
            "spark.driver.bindAddress": LOCAL_ADDRESS,
            "spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY", "4g"),
        }
        # Local executors use this installation.
        os.environ["PYSPARK_PYTHON"] = sys.executable
        # A file such as polars.py in the current folder is not the library.
        os.environ["PYTHONSAFEPATH"] = "1"
        # Spark's shuffle files hold data and are open to everybody, but this folder is closed. The variable goes before
        # the setting.
        settings[LOCAL_FOLDER] = os.environ["SPARK_LOCAL_DIRS"] = mkdtemp(prefix=OURS, dir=_local_folder())
        path = os.environ.get("PYTHONPATH")
        if PACKAGE_HOME not in (path or "").split(os.pathsep):
            os.environ["PYTHONPATH"] = PACKAGE_HOME if not path else f"{PACKAGE_HOME}{os.pathsep}{path}"
    configuration = SparkConf().setAll(list(settings.items()))
    gateway = None
    try:
        gateway = launch_gateway(  # type: ignore[no-untyped-call]
            configuration, {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        )
        context = SparkContext(conf=configuration, gateway=gateway)
    except Exception:
        if gateway is not None:
            gateway.shutdown()
        if LOCAL_FOLDER in settings:
            shutil.rmtree(settings[LOCAL_FOLDER], ignore_errors=True)
        raise UsageError(
            f"Spark could not be started with the master {master!r}.",
            "Give --master local[2] for this machine, or the address of a cluster that runs this version of Spark.",
        ) from None
    context.setLogLevel("OFF")
    session = SparkSession(context)
    # Keep the number of partitions after a shuffle fixed, so that every pass finds the same partitions.
    session.conf.set("spark.sql.adaptive.enabled", "false")
    # A block is a batch of lines. Larger blocks have fewer names in all to put into the common vocabulary.
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(ROWS_AT_ONCE))
    if master.startswith("local"):
        session.conf.set("spark.sql.shuffle.partitions", str(context.defaultParallelism))
    return session


def stop(session: SparkSession) -> None:
    """End a session and its Java, whatever state they are in."""
    from py4j.protocol import Py4JError

    folder = Path(session.sparkContext.getConf().get(LOCAL_FOLDER, ""))
    with suppress(Py4JError, OSError):
        session.stop()
    if folder.name.startswith(OURS):
        shutil.rmtree(folder, ignore_errors=True)


def _local_folder() -> str | None:
    """Where the user wants Spark's files; None for the usual place. An earlier session's folder lies in that place."""
    wanted = Path(os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0])
    if wanted.name.startswith(OURS):
        wanted = wanted.parent
    return str(wanted) if wanted.is_dir() and wanted.name else None


def _check_pyspark() -> None:
    try:
        import pyarrow  # noqa: F401
        import pyspark
    except ImportError:
        raise UsageError("Spark is not installed.", SPARK_STEP) from None
    if int(pyspark.__version__.split(".")[0]) < 4:
        raise UsageError(f"pyspark {pyspark.__version__} is too old.", SPARK_STEP)


def _check_java() -> None:
    """Refuse a machine without Java, or with a version older than Spark needs.

    Raises:
        UsageError: Java is missing, too old, or does not start.
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None:
        raise UsageError("Spark needs Java, and Java was not found.", JAVA_STEP)
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        raise UsageError("Java does not start.", JAVA_STEP) from None
    version = re.search(r'version "(\d+)(?:\.(\d+))?', said.stderr + said.stdout)
    if version is None:
        raise UsageError("Java does not say which version it is.", JAVA_STEP)
    # Java up to version 8 calls itself 1.8 and so on.
    major = int(version[2] or 0) if version[1] == "1" else int(version[1])
    if major < OLDEST_JAVA:
        raise UsageError(f"Spark needs Java {OLDEST_JAVA} or newer; this is {major}.", JAVA_STEP)


class Cluster:
    """A Spark session as the rest of the engine uses it: functions over Arrow batches, and errors that show no data.

    Our own errors on an executor, which hold no data, reach the driver by an accumulator. If a task is tried again,
    its error arrives twice, which does no harm. Results do not use accumulators; a retried task replaces its result.
    """

    def __init__(self, session: SparkSession) -> None:
        """Take over a session."""
        from pyspark.accumulators import AccumulatorParam

        class Union(AccumulatorParam[set[tuple[str, str, str]]]):
            def zero(self, value: set[tuple[str, str, str]]) -> set[tuple[str, str, str]]:  # noqa: ARG002
                return set()

            def addInPlace(  # noqa: N802 - Spark's name
                self, value1: set[tuple[str, str, str]], value2: set[tuple[str, str, str]]
            ) -> set[tuple[str, str, str]]:
                return value1 | value2

        self.session = session
        self._refusals = session.sparkContext.accumulator(set(), Union())

    def partitions_for(self, frame: DataFrame) -> int:
        """How many partitions to shuffle the results of a frame into: as many as it has, but at least one per core."""
        return max(self.session.sparkContext.defaultParallelism, frame.rdd.getNumPartitions())

    def broadcast(self, value: Any) -> Any:
        """Send the value once to every executor."""
        return self.session.sparkContext.broadcast(value)

    def map(self, frame: DataFrame, function: Callable[[Batches], Batches], schema: str) -> DataFrame:
        """Apply `function` to the Arrow batches of each partition.

        Args:
            frame: any frame.
            function: a function that the executors can import, or a partial of one. One of our errors ends its
                partition early, and `collect` raises it here.
            schema: the schema of what `function` yields, as Spark writes it.
        """
        refusals = self._refusals

        def guarded(batches: Batches) -> Batches:
            try:
                yield from function(batches)
            except FimPrivateError as error:
                refusals.add({(type(error).__name__, error.what, error.next_step)})

        with _unwarned():
            return frame.mapInArrow(guarded, schema)

    def sum_groups(self, frame: DataFrame, by: str, function: Callable[[pa.Table], pa.Table], schema: str) -> DataFrame:
        """Apply `function` to the rows of each group, as an Arrow table."""
        with _unwarned():
            return frame.groupBy(by).applyInArrow(function, schema)

    def collect(self, frame: DataFrame) -> pa.Table:
        """Collect all rows of a frame on the driver.

        Raises:
            InputError: an executor raised it.
            UsageError: an executor raised it.
            FimPrivateError: Spark failed.
        """
        with plain_failures(), _unwarned():
            table = frame.toArrow()
        self._raise_refusal()
        return table

    def _raise_refusal(self) -> None:
        refusals = sorted(self._refusals.value)
        if refusals:
            self._refusals.value = set()
            kind, what, next_step = refusals[0]
            raise {"InputError": InputError, "UsageError": UsageError}.get(kind, FimPrivateError)(what, next_step)


@contextmanager
def plain_failures() -> Iterator[None]:
    """Turn every exception of Spark into an error that quotes nothing of it.

    Raises:
        InputError: there is no such path, or a file is not what its ending says.
        FimPrivateError: a task failed as often as Spark tries, or the cluster was lost.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import AnalysisException, PySparkException

    try:
        yield
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            raise InputError("Spark finds no file there.", "Check the path as the executors see it.") from None
        raise InputError(
            "Spark cannot read this file as what it seems to be.", "Check the path, the format and the column names."
        ) from None
    except (PySparkException, Py4JError, OSError):
        raise FimPrivateError(
            "Spark gave up: a task failed again and again, or the cluster was lost.",
            "Look into the logs of its executors (they may show data), give them more memory, or bound the work with "
            "--max-items.",
        ) from None


@contextmanager
def _unwarned() -> Iterator[None]:
    """Suppress Spark's warnings about versions of pandas, which is not used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
