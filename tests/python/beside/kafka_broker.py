"""A real Kafka for tests: broker and controller in one JVM, on 127.0.0.1 and free ports."""

from __future__ import annotations

import base64
import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from tests.python.beside.parts import BROKER, jars
from tests.python.conftest import free_port

_START_SECONDS = 180.0

# Compaction runs at once, so that tests read a topic in which records are missing.
_SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={logs}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
auto.create.topics.enable=false
log.cleaner.backoff.ms=300
log.cleaner.dedupe.buffer.size=4194304
"""


@contextlib.contextmanager
def running() -> Iterator[str]:
    """Start a broker with topics of its own; stop it at the end. Yields its address."""
    folder = Path(tempfile.mkdtemp(prefix="firesteel-kafka-"))
    port, controller = free_port(), free_port()
    settings = folder / "server.properties"
    settings.write_text(
        _SETTINGS.format(port=port, controller=controller, logs=folder / "logs"), encoding="utf-8"
    )
    java = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    java += ["-cp", str(jars(BROKER, beside=None) / "*")]
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    try:
        subprocess.run(
            [*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", settings],
            check=True, capture_output=True,
        )  # fmt: skip
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*java, "kafka.Kafka", settings], stdout=log, stderr=log, cwd=folder
            )
        try:
            _wait(process, folder / "log", port)
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], log: Path, port: int) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"Kafka did not start:\n{log.read_text()[-4000:]}")
