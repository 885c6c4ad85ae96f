package io.firesteel.extension

import io.firesteel.core.room.Phase
import java.io.File
import java.util.Locale

import org.scalatest.funsuite.AnyFunSuite

/** A room is a folder and a place in the list. All else follows from its `Room` value. */
class RoomsSuite extends AnyFunSuite {

  private def list(folder: File): Seq[File] =
    Option(folder.listFiles).fold(Seq.empty[File])(_.toSeq)

  test("the list has the rooms that have a folder") {
    val folders = list(new File("scala"))
      .filter(folder => list(new File(folder, "src")).exists(_.getName.endsWith("Room.scala")))
    assert(Rooms.names == folders.map(_.getName).sorted)
  }

  test("each phase has every room once") {
    Phase.all.foreach(phase => assert(Rooms.in(phase).map(_.name).sorted == Rooms.names))
  }

  Rooms.all.foreach { room =>
    test(s"settings and reasons of ${room.name} have its name, and the switch is first") {
      val prefix = s"spark.firesteel.${room.name}."
      assert(room.settings.headOption.forall(_.key == s"${prefix}enabled"))
      assert(room.settings.forall(_.key.startsWith(prefix)))
      val code = s"${room.name.toUpperCase(Locale.ROOT)}."
      assert(room.declines.forall(_.code.startsWith(code)))
    }
  }
}
