package io.firesteel.sinks.folder

import io.firesteel.core.errors.FiresteelException
import io.firesteel.sinks.apply.Done
import io.firesteel.testkit.TimedSuite

import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.types.StructType

class FolderLogSuite extends TimedSuite {

  private def version(number: Long): FolderVersion = FolderVersion(
    number,
    StructType.fromDDL("`a b` STRING, n DECIMAL(20, 4), s STRUCT<x: ARRAY<INT>>"),
    Seq("a b", "n"),
    buckets = 16,
    files = Map(3 -> Seq("_data/t/rows/f=3/x.parquet"), 11 -> Seq("y", "z")),
    retired = Map("old" -> 17L),
    last = Map("q \"1\"" -> Done(number, Some("id")), "r" -> Done(0L, None))
  )

  private def log(): FolderLog =
    new FolderLog(
      new Path(Files.createTempDirectory("firesteel-folder").toUri),
      new Configuration(false))

  test("a version reads as it was written") {
    assert(FolderVersion.parse(version(7).json) === version(7))
  }

  test("the newest version is the one with the highest number") {
    val versions = log()
    assert(versions.newest().isEmpty)
    (0L to 11L).foreach(n => versions.commit(version(n)))
    assert(versions.newest().contains(version(11)))
  }

  test("the second of two writers of one version is refused") {
    val versions = log()
    versions.commit(version(0))
    val refused = intercept[FiresteelException](versions.commit(version(0)))
    assert(refused.getCondition === "FIRESTEEL_APPLY_WRITTEN_MEANWHILE")
  }

  test("a writer of a version that is forgotten already is refused") {
    val versions = log()
    versions.commit(version(0))
    versions.commit(version(1))
    versions.forget(before = 1, millis = -1)
    assert(!versions.fileSystem.exists(new Path(versions.path, "00000000000000000000.json")))
    val refused = intercept[FiresteelException](versions.commit(version(0)))
    assert(refused.getCondition === "FIRESTEEL_APPLY_WRITTEN_MEANWHILE")
    assert(versions.newest().contains(version(1)))
  }

  test("an unfinished file of a dead writer is no version, and is removed in time") {
    val versions = log()
    versions.commit(version(0))
    versions.commit(version(1))
    val begun = new Path(versions.path, ".00000000000000000002.json.1234.tmp")
    versions.fileSystem.create(begun).close()
    assert(versions.newest().contains(version(1)))
    Thread.sleep(20)
    versions.forget(before = 1, millis = 0)
    assert(!versions.fileSystem.exists(begun))
    assert(versions.newest().contains(version(1)))
  }
}
