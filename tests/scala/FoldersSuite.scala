package io.firesteel.tests

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/** Folders of a room import what the table in `scala/README.md` lets them, and no more. */
class FoldersSuite extends AnyFunSuite {

  private val page = Files.readString(Paths.get("scala/README.md"))

  /** By room and folder the folders that it may import; `.` is the room's own. */
  private val table: Map[(String, String), Set[String]] =
    page.split("```folders\n")(1).split("```")(0).linesIterator.map { line =>
      val words = line.trim.split(" +").toSeq
      (words.head, words(1)) -> words.drop(3).toSet
    }.toMap

  private def sources(room: String): Seq[Path] =
    Files.walk(Paths.get(s"scala/$room/src")).iterator.asScala
      .filter(_.toString.endsWith(".scala")).toSeq

  table.keys.map(_._1).toSeq.distinct.sorted.foreach { room =>
    test(s"$room: imports between folders are those of the table, and each is needed") {
      val named = s"""io\\.firesteel\\.$room((?:\\.[a-z]\\w*)*)""".r
      val used = sources(room).flatMap { file =>
        val folder = file.getParent.toString.stripPrefix(s"scala/$room/src").stripPrefix("/")
        val code = Files.readString(file).replaceAll("(?s)/\\*.*?\\*/", "").linesIterator.drop(1)
        val from = if (folder.isEmpty) "." else folder.replace('/', '.')
        code.flatMap(line => named.findAllMatchIn(line).map(_.group(1).stripPrefix(".")))
          .map(to => from -> (if (to.isEmpty) "." else to)).filter { case (a, b) => a != b }
      }.toSet
      val wanted = table.collect { case ((`room`, from), others) =>
        others.map(from -> _)
      }.flatten.toSet
      assert(used.diff(wanted).isEmpty, "not in the table")
      assert(wanted.diff(used).isEmpty, "in the table and not needed")
      val most = sources(room).groupBy(_.getParent).values.map(_.size).max
      assert(most <= 25, "files in one folder")
    }
  }

  test("the table has no circles") {
    table.keys.foreach { case (room, folder) =>
      @scala.annotation.tailrec
      def reach(folders: Set[String]): Set[String] = {
        val more = folders ++ folders.flatMap(f => table.getOrElse((room, f), Set.empty))
        if (more == folders) folders else reach(more)
      }
      assert(!reach(table((room, folder))).contains(folder), s"$room/$folder")
    }
  }
}
