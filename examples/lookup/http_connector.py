"""A lookup connector over HTTP with the standard library: one request for a batch of keys.

The program starts a small server in its own process. It answers ``POST /customers`` with the body
``{"ids": [1, 2]}`` by ``[{"id": 1, "country": "is"}]``.

    python examples/lookup/http_connector.py
"""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread, local

import pyarrow as pa
from pyspark.sql import SparkSession

import firesteel
from firesteel import TaskInfo


class HttpCustomers:
    """Customers of an HTTP service that takes many ids in one request.

    With the hint ``async=true`` several threads call `lookup` at the same time. So each thread has
    a connection of its own, which stays open between requests.
    """

    schema = "id BIGINT, country STRING"
    keys = ("id",)

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port

    def open(self, task: TaskInfo) -> None:
        """Prepare. Each thread opens its own connection."""
        self.mine = local()
        self.all: list[HTTPConnection] = []

    def lookup(self, keys: pa.Table) -> pa.Table:
        """Look up all ids in one request."""
        found = self._post(json.dumps({"ids": keys["id"].to_pylist()}))
        schema = pa.schema([("id", pa.int64()), ("country", pa.string())])
        return pa.Table.from_pylist(json.loads(found), schema)

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self.all:
            connection.close()

    def _post(self, body: str) -> bytes:
        headers = {"Content-Type": "application/json"}
        for attempt in range(2):
            connection = self._connection()
            try:
                connection.request("POST", "/customers", body, headers)
                response = connection.getresponse()
                answer = response.read()
            except (ConnectionError, HTTPException):
                connection.close()  # the server may close an idle connection; try a new one
                if attempt:
                    raise
            else:
                if response.status != 200:
                    raise OSError(f"{response.status} {response.reason}: {answer[:200]!r}")
                return answer
        raise AssertionError("the second attempt returned or raised")

    def _connection(self) -> HTTPConnection:
        if not hasattr(self.mine, "connection"):
            self.mine.connection = HTTPConnection(self.host, self.port, timeout=10)
            self.all.append(self.mine.connection)
        connection: HTTPConnection = self.mine.connection
        return connection


class Customers(BaseHTTPRequestHandler):
    """The server, which has the customers with even ids."""

    protocol_version = "HTTP/1.1"  # keeps connections open

    def do_POST(self) -> None:
        """Return the customers of a batch of ids."""
        wanted = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["ids"]
        found = [{"id": n, "country": ("ch", "is")[n // 2 % 2]} for n in wanted if n % 2 == 0]
        body = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing."""


def start_server() -> ThreadingHTTPServer:
    """Serve on loopback, on a free port, until the process ends or ``shutdown`` is called."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Customers)
    Thread(target=server.serve_forever, daemon=True).start()
    return server


def main() -> None:
    """Enrich orders with the countries of customers."""
    server = start_server()
    spark = firesteel.configure(SparkSession.builder.master("local[2]")).getOrCreate()
    connector = HttpCustomers("127.0.0.1", server.server_port)
    firesteel.register_lookup(spark, "customers", connector, batch_size=100)
    orders = spark.sql("SELECT id AS order, id * 7 % 1200 AS id FROM range(2000)")
    enriched = firesteel.lookup_join(
        orders, "customers", on="id", how="left", async_=True, capacity=4, timeout="30 s"
    )
    known = enriched.where("country IS NOT NULL").count()
    print(f"{known} of {enriched.count()} orders have a known customer")
    enriched.orderBy("order").show(5)
    spark.stop()
    server.shutdown()


if __name__ == "__main__":
    main()
