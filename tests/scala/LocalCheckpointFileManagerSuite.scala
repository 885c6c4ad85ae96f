package io.firesteel.tests

import io.firesteel.changelog.ChangelogSuite
import io.firesteel.checkpoint.LocalCheckpointFileManager
import java.nio.file.{Files, Path => LocalPath}
import java.nio.file.attribute.PosixFilePermissions

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path, RawLocalFileSystem}
import org.apache.spark.sql.Row
import org.apache.spark.sql.firesteel.streaming.{CheckpointFileManager, FileContextBasedCheckpointFileManager}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.Assertion

/** A file system that is not the local one, whatever it does. */
final class ElsewhereFileSystem
  extends org.apache.hadoop.fs.FilterFileSystem(new RawLocalFileSystem)

/** What Spark asks of a manager of checkpoint files. */
class LocalCheckpointFileManagerSuite extends ChangelogSuite {

  private val key = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key

  private def inFolder(body: (LocalPath, CheckpointFileManager) => Assertion): Assertion = {
    val folder = Files.createTempDirectory("firesteel-files")
    body(folder, new LocalCheckpointFileManager(new Path(folder.toString), new Configuration))
  }

  private def write(
      manager: CheckpointFileManager,
      file: LocalPath,
      text: String,
      over: Boolean): Unit = {
    val out = manager.createAtomic(new Path(file.toString), over)
    out.write(text.getBytes)
    assert(!Files.exists(file) || Files.readString(file) != text, "not before it is closed")
    out.close()
    out.close() // as Spark does
  }

  private def names(folder: LocalPath): Set[String] =
    Using.resource(Files.list(folder))(_.iterator.asScala.map(_.getFileName.toString).toSet)

  test("a file is there when it is closed, and whole") {
    inFolder { (folder, manager) =>
      val file = folder.resolve("a/0")
      write(manager, file, "first", over = false)
      assert(Files.readString(file) == "first" && names(file.getParent) == Set("0"))
      assert(new String(manager.open(new Path(file.toString)).readAllBytes()) == "first")
      val _ = intercept[FileAlreadyExistsException](write(manager, file, "second", over = false))
      assert(Files.readString(file) == "first" && names(file.getParent) == Set("0"))
      write(manager, file, "third", over = true)
      assert(Files.readString(file) == "third" && names(file.getParent) == Set("0"))
    }
  }

  test("a file that is cancelled never was") {
    inFolder { (folder, manager) =>
      val out = manager.createAtomic(new Path(folder.toString, "0"), overwriteIfPossible = false)
      out.write(1)
      out.cancel()
      out.close()
      assert(names(folder).isEmpty)
    }
  }

  test("a file's permissions are those that the process gives its files") {
    inFolder { (folder, manager) =>
      write(manager, folder.resolve("0"), "mine", over = false)
      Files.writeString(folder.resolve("1"), "another")
      def of(name: String): String =
        PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(name)))
      assert(of("0") == of("1"))
    }
  }

  test("folders are made, listed and taken away with all that is in them") {
    inFolder { (folder, manager) =>
      val under = new Path(folder.toString, "made/below")
      manager.mkdirs(under)
      assert(manager.exists(under))
      write(manager, folder.resolve("made/below/1"), "1", over = false)
      assert(manager.list(under).map(_.getPath.getName).toSeq == Seq("1"))
      assert(manager.list(under, (path: Path) => path.getName == "2").isEmpty)
      manager.delete(new Path(folder.toString, "made"))
      manager.delete(new Path(folder.toString, "made"))
      assert(!manager.exists(under) && manager.isLocal)
      assert(manager.createCheckpointDirectory().toString == s"file:$folder")
    }
  }

  test("checksums of Spark's own manager are hidden, and go with their file") {
    inFolder { (folder, manager) =>
      val (file, checksum) = (folder.resolve("1.delta"), folder.resolve(".1.delta.crc"))
      Files.writeString(file, "old")
      Files.writeString(checksum, "of the old one")
      assert(manager.list(new Path(folder.toString)).map(_.getPath.getName).toSeq == Seq("1.delta"))
      write(manager, file, "new", over = true)
      assert(!Files.exists(checksum), "or Spark's own manager would take the new one for damaged")
      Files.writeString(checksum, "of the new one")
      manager.delete(new Path(file.toString))
      assert(names(folder).isEmpty)
    }
  }

  test("a query begins where one was killed while it wrote its first offset") {
    inFolder { (folder, manager) =>
      val offsets = Files.createDirectories(folder.resolve("offsets"))
      Files.writeString(offsets.resolve(".0.b41ef0e5-2c1a-4c0c-9f6e-6f0d3a2c7d11.tmp"), "v1")
      assert(manager.list(new Path(offsets.toString)).isEmpty)
      val in = Files.createDirectories(folder.resolve("in"))
      Files.writeString(in.resolve("1"), "a line")
      val query = spark.readStream
        .text(in.toString)
        .writeStream
        .format("noop")
        .option("checkpointLocation", folder.toString)
        .trigger(Trigger.AvailableNow())
        .start()
      query.awaitTermination()
      assert(names(offsets).contains("0"))
    }
  }

  test("what is not on a local disk stays with Spark's own manager") {
    val conf = new Configuration
    conf.set("fs.elsewhere.impl", classOf[ElsewhereFileSystem].getName)
    conf.set(key, classOf[LocalCheckpointFileManager].getName)
    val folder = Files.createTempDirectory("firesteel-files")
    val manager = new LocalCheckpointFileManager(new Path(s"elsewhere:$folder"), conf)
    assert(!manager.isLocal)
  }

  test("Spark's own manager goes on with a checkpoint, and this one with Spark's") {
    val sql =
      "SELECT c, count(*) AS n FROM (SELECT k, count(*) AS c FROM {t} GROUP BY k) GROUP BY c"
    val asSparks = classOf[FileContextBasedCheckpointFileManager].getName
    val ours = classOf[LocalCheckpointFileManager].getName
    val formerName = classOf[io.firesteel.changelog.LocalCheckpointFileManager].getName
    providers.foreach { provider =>
      val fed = stream("k STRING", sql)
      try {
        Seq(asSparks, ours, asSparks, formerName, ours).zipWithIndex.foreach {
          case (manager, i) =>
            withConf(key -> manager, SQLConf.STATE_STORE_PROVIDER_CLASS.key -> provider) {
              fed.start()
              fed.feed(Seq(Row("a"), Row(s"b$i")))
              assert(fed.difference.isEmpty, manager)
              fed.stop()
            }
        }
      } finally fed.stop()
    }
  }
}
