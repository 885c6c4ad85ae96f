"""Runs SQL on Apache Flink for `build/bench streaming`: one session cluster, warm from job to job.

It reads a request a line from standard input and writes an answer a line to standard output, both
JSON, so that a benchmark elsewhere can take turns with it:

    {"do": "facts"}                                          versions and memory
    {"do": "run", "settings": {}, "ddl": [], "sql": ""}      seconds of an INSERT, from text to end
    {"do": "last", "settings": {}, "ddl": [], "sql": ""}     the last row of a query of one row
    {"do": "plan", "settings": {}, "ddl": [], "sql": ""}     the plan of an INSERT

Python only hands over texts: the jobs are Flink's own, in its JVM, and no row comes through here.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

from pyflink.common import Configuration
from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, ExplainDetail, TableEnvironment
from pyflink.version import __version__

# Pairs of a name and a value, as they come from JSON.
Settings = dict[str, str]


class Cluster:
    """A job manager and one task manager in the JVM that PyFlink has started."""

    def __init__(self, slots: int) -> None:
        self.jvm = get_gateway().jvm
        settings = self.jvm.org.apache.flink.configuration.Configuration()
        settings.setString("rest.bind-port", "0")
        settings.setString("rest.address", "localhost")
        # Nothing is retried: a job that fails is a benchmark that fails.
        settings.setString("restart-strategy.type", "none")
        minicluster = self.jvm.org.apache.flink.runtime.minicluster
        built = (
            minicluster.MiniClusterConfiguration.Builder()
            .setConfiguration(settings)
            .setNumTaskManagers(1)
            .setNumSlotsPerTaskManager(slots)
            .build()
        )
        self._cluster = minicluster.MiniCluster(built)
        self._cluster.start()
        self._address = self._cluster.getRestAddress().get()

    def tables(self, request: dict[str, Any]) -> TableEnvironment:
        """A new session with the tables of a request, in streaming mode."""
        settings = Configuration()
        settings.set_string("execution.target", "remote")
        settings.set_string("rest.address", self._address.getHost())
        settings.set_string("rest.port", str(self._address.getPort()))
        asked: Settings = request["settings"]
        for key, value in asked.items():
            settings.set_string(key, value)
        mode = EnvironmentSettings.new_instance().in_streaming_mode()
        session = TableEnvironment.create(mode.with_configuration(settings).build())
        for statement in request["ddl"]:
            session.execute_sql(statement)
        return session

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Time an INSERT, planning and submission included.

        The end is the one that the job manager has noted: a client learns of it by asking now and
        then, which would add up to two seconds.
        """
        session = self.tables(request)
        self.jvm.java.lang.System.gc()  # so that no run pays for another's garbage
        start = time.time() * 1000
        client = session.execute_sql(request["sql"]).get_job_client()
        submitted = time.time() * 1000
        job = client.get_job_id()._j_job_id  # noqa: SLF001  (there is no other way to it)
        result = self._cluster.requestJobResult(job).get()
        if not result.isSuccess():
            raise RuntimeError(result.getSerializedThrowable().get().getFullStringifiedStackTrace())
        finished = self.jvm.org.apache.flink.api.common.JobStatus.FINISHED
        end = self._cluster.getArchivedExecutionGraph(job).get().getStatusTimestamp(finished)
        return {"seconds": (end - start) / 1000, "submitSeconds": (submitted - start) / 1000}

    def last(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a query of one row says in the end."""
        row: list[Any] = []
        with self.tables(request).execute_sql(request["sql"]).collect() as changes:
            for change in changes:
                row = list(change)
        return {"row": row}

    def plan(self, request: dict[str, Any]) -> dict[str, Any]:
        """The plan of an INSERT, with what kinds of changes each operator emits."""
        session = self.tables(request)
        return {"plan": session.explain_sql(request["sql"], ExplainDetail.CHANGELOG_MODE)}

    def facts(self, _request: dict[str, Any]) -> dict[str, Any]:
        """What is running here."""
        runtime = self.jvm.java.lang.Runtime.getRuntime()
        java = self.jvm.java.lang.System.getProperty("java.version")
        return {"flink": __version__, "java": java, "heapBytes": runtime.maxMemory()}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request asks for."""
        ways = {"facts": self.facts, "run": self.run, "last": self.last, "plan": self.plan}
        return ways[request["do"]](request)


def main() -> None:
    """Answer requests until there are no more."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heap", default="4g", help="of the JVM, as -Xmx has it")
    parser.add_argument("--slots", type=int, default=2, help="tasks at a time")
    asked = parser.parse_args()
    # As Flink's own scripts have it.
    os.environ["JVM_ARGS"] = f"-Xmx{asked.heap} -Xms{asked.heap}"
    # Only answers go to standard output; whatever else is printed, by the JVM too, goes elsewhere.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    cluster = Cluster(asked.slots)
    for line in sys.stdin:
        try:
            answer = cluster.answer(json.loads(line))
        except Exception as failed:  # the other side decides what a failure means
            answer = {"error": str(failed)}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
