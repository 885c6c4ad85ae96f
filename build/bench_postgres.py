"""Runs the PostgreSQL of the benchmark: ``python build/bench_postgres.py FOLDER ROWS...``.

Makes a table ``customers_<ROWS>`` for each size that is not there yet, prints the JDBC URL, and
runs until its input ends. The data stays in FOLDER.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "python"))

import postgres_server  # type: ignore[import-not-found] # by the path above


def make(server: postgres_server.Postgres, rows: int) -> None:
    """Make the customers 0 to ``rows`` - 1, whole or not at all."""
    name = f"customers_{rows}"
    if server.execute(f"SELECT to_regclass('{name}') IS NOT NULL") == "t":
        return
    print(f"making table {name}", file=sys.stderr, flush=True)
    server.execute(
        f"""
        DROP TABLE IF EXISTS making;
        CREATE TABLE making (id bigint NOT NULL, name text, region int);
        INSERT INTO making
          SELECT i, 'customer-' || i, (i % 7)::int FROM generate_series(0, {rows - 1}::bigint) AS i;
        ALTER TABLE making ADD CONSTRAINT {name}_key PRIMARY KEY (id);
        ALTER TABLE making RENAME TO {name};
        VACUUM ANALYZE {name};
        """
    )


def main() -> None:
    """Serve until standard input ends."""
    folder = Path(sys.argv[1])
    settings = ("shared_buffers=512MB", "maintenance_work_mem=512MB", "max_wal_size=8GB")
    with postgres_server.running(*settings, keep=folder) as server:
        for rows in sys.argv[2:]:
            make(server, int(rows))
        print(f"{server.url}?user={server.user}&password={server.password}", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
