"""A PostgreSQL server of a test's own, in a folder of its own, if the machine has one to start."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import processes

PASSWORD = "SECRET-PASSWORD"
USER = "postgres"


def program(name: str) -> str:
    """Where a program of the server is: Debian keeps them outside the PATH."""
    found = [*sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True), shutil.which(name)]
    if not (path := next(filter(None, found), None)):
        pytest.skip("no PostgreSQL: apt-get install postgresql")
    return str(path)


@contextmanager
def server() -> Iterator[str]:
    """The address of a running server, without user and password. Root may not run one, so another user does then."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'fim_private[databases]'")
    initdb, postgres = program("initdb"), program("postgres")
    as_user: dict[str, Any] = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="fim-pg-") as name:
        folder = Path(name)
        (folder / "password").write_text(PASSWORD)
        if as_user:
            for path in (folder, folder / "password"):
                shutil.chown(path, USER, USER)
        data = folder / "data"
        options = ("-D", data, "-U", "shop", "-A", "scram-sha-256", f"--pwfile={folder / 'password'}", "-E", "UTF8")
        made = processes.run([initdb, *options, "--no-sync", "--locale=C"], cwd=folder, **as_user)
        assert made.returncode == 0, made.stderr
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [postgres, "-D", data, "-p", port, "-k", folder, "-h", "127.0.0.1", "-F"]
        with processes.started([*map(str, command)], cwd=folder, stderr=-3, **as_user):
            address = f"127.0.0.1:{port}/postgres"
            for _ in range(200):
                try:
                    psycopg.connect(f"postgresql://shop:{PASSWORD}@{address}", connect_timeout=2).close()
                    break
                except psycopg.OperationalError:
                    processes.run(["sleep", "0.05"])
            yield address
