"""State split in another number of partitions: in this process, over Connect, and on a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from pyspark.errors import PySparkException
from pyspark.sql.connect.session import SparkSession as ConnectSession

import firesteel
from tests.python.since_spark import is_since

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

TOP = """
    SELECT letter, place, word, c FROM (
      SELECT *, row_number() OVER (PARTITION BY letter ORDER BY c DESC, word) AS place FROM (
        SELECT substr(word, 1, 1) AS letter, word, count(*) AS c FROM {words} GROUP BY 1, 2))
    WHERE place <= 2"""


@dataclass
class Places:
    """A query whose result a folder follows."""

    session: SparkSession
    folder: Path
    files: int = 0

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    def run(self) -> None:
        """Run the query over one more file, and compare."""
        words = self.folder / "words"
        words.mkdir(exist_ok=True)
        made = (f"{'abc'[n % 3]}{n * (self.files + 3) % 7}" for n in range(40))
        lines = "\n".join(json.dumps({"word": word}) for word in made)
        (words / f"{self.files}.json").write_text(lines)
        self.files += 1
        self.session.readStream.schema("word STRING").json(str(words)).createOrReplaceTempView("w")
        changes = self.session.sql(f"SELECT *, row_kind() AS op FROM ({TOP.format(words='w')})")
        table = str(self.folder / "table")
        apply = firesteel.apply_changes(table, ["letter", "place"], query_id="places")
        writer = changes.writeStream.foreachBatch(apply).trigger(availableNow=True)
        writer.option("checkpointLocation", str(self.checkpoint)).start().awaitTermination()
        found = self.session.read.format("firesteel-table").load(table).collect()
        self.session.read.schema("word STRING").json(str(words)).createOrReplaceTempView(
            "all_words"
        )
        wanted = self.session.sql(TOP.format(words="all_words")).collect()
        assert sorted(map(tuple, found)) == sorted(map(tuple, wanted))


def test_a_query_goes_on_with_another_number(session: SparkSession, tmp_path: Path) -> None:
    places = Places(session, tmp_path)
    places.run()
    for before, after in ((4, 7), (7, 1)):
        done = firesteel.repartition_state(session, places.checkpoint, after)
        assert (done.before, done.partitions) == (before, after)
        assert firesteel.repartition_state(session, places.checkpoint, after) == done
        places.run()
    noted = session.read.format("state-metadata").load(str(places.checkpoint)).collect()
    assert {row.numPartitions for row in noted} == {1}
    if is_since("4.2"):  # older readers also read the folders of the partitions that are gone
        state = session.read.format("statestore").option("operatorId", 1)
        assert state.load(str(places.checkpoint)).count() > 0


def test_files_of_sparks_own_sink_stay_readable(session: SparkSession, tmp_path: Path) -> None:
    session.conf.set("spark.sql.streaming.fileSink.log.compactInterval", 3)
    (tmp_path / "in").mkdir()
    stream = session.readStream.schema("k STRING, v INT").json(str(tmp_path / "in"))
    stream.createOrReplaceTempView("told")
    for batch in range(7):
        (tmp_path / "in" / f"{batch}.json").write_text(json.dumps({"k": f"k{batch}", "v": batch}))
        query = session.sql("SELECT k, sum(v) AS s, row_kind() AS op FROM told GROUP BY k")
        writer = query.writeStream.format("parquet").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.start(str(tmp_path / "out")).awaitTermination()
        if batch in {1, 4}:  # the second is one that the sink's log compacts
            for partitions in (batch + 2, batch + 3):
                firesteel.repartition_state(session, tmp_path / "checkpoint", partitions)
        assert session.read.parquet(str(tmp_path / "out")).count() == batch + 1


@pytest.mark.skipif(not is_since("4.2"), reason="repartitioning came with Spark 4.2")
def test_mends_what_sparks_own_repartitioning_has_left(
    session: SparkSession, tmp_path: Path
) -> None:
    session.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKS_DB)
    places = Places(session, tmp_path)
    places.run()
    manager: Any = session._streamingCheckpointManager
    with pytest.raises(PySparkException):
        manager.repartition(str(places.checkpoint), 3, False)
    with pytest.raises(PySparkException, match=r"(?s)UNFINISHED_BY_SPARK.*repartition_state"):
        places.run()
    assert firesteel.repartition_state(session, str(places.checkpoint), 3).partitions == 3
    places.run()


def test_says_what_is_wrong(session: SparkSession, tmp_path: Path) -> None:
    wrong: Any = None
    with pytest.raises(ValueError, match="checkpoint = None"):
        firesteel.repartition_state(session, wrong, 3)
    for number in (True, "3"):
        wrong = number
        with pytest.raises(ValueError, match="partitions ="):
            firesteel.repartition_state(session, tmp_path, wrong)
    with pytest.raises(PySparkException, match=rf"(?s)NO_CHECKPOINT.*{tmp_path}"):
        firesteel.repartition_state(session, tmp_path, 3)


@pytest.fixture
def remote(address: str) -> Iterator[SparkSession]:
    session = cast("SparkSession", ConnectSession.builder.remote(address).create())
    yield session
    session.stop()


def test_works_from_a_connect_client(remote: SparkSession, tmp_path: Path) -> None:
    places = Places(remote, tmp_path)
    places.run()
    done = firesteel.repartition_state(remote, places.checkpoint, 3)
    assert done.partitions == 3
    assert done.before != 3
    places.run()
    with pytest.raises(PySparkException, match="FIRESTEEL_REPARTITION_NO_CHECKPOINT"):
        firesteel.repartition_state(remote, tmp_path / "nowhere", 3)


CLUSTER = """
import sys
import tempfile
from pathlib import Path

import firesteel
from pyspark.sql import SparkSession

sys.path.insert(0, ROOT)
from tests.python.test_repartition import ROCKS_DB, Places

builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", False)
spark = firesteel.configure(builder.config("spark.sql.shuffle.partitions", 4)).getOrCreate()
for provider in (None, ROCKS_DB):
    if provider:
        spark.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
    places = Places(spark, Path(tempfile.mkdtemp()))
    places.run()
    for partitions in (6, 2):
        done = firesteel.repartition_state(spark, places.checkpoint, partitions)
        assert done.partitions == partitions
        places.run()
print("went on")
"""


@pytest.mark.long
def test_works_on_a_cluster(run_python: Callable[..., str], writable_spark_home: Path) -> None:
    program = CLUSTER.replace("ROOT", repr(str(Path(__file__).parents[2])))
    package = str(Path(firesteel.__file__).parents[1])
    home = str(writable_spark_home)
    assert "went on" in run_python(program, SPARK_HOME=home, PYTHONPATH=package)
