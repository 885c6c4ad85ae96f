import java.io.ByteArrayInputStream

import scala.io.Source

import sbtassembly.Assembly.JarEntry
import sbtassembly.{CustomMergeStrategy, MergeStrategy}

/** The rooms' files of error conditions, all of one name, become one in the jar. */
object ErrorConditions {

  val file = "error/firesteel-error-conditions.json"

  /** Each file is one JSON object; the sum of them has all their members. */
  val merged: MergeStrategy = CustomMergeStrategy("error conditions") { files =>
    val members = files.map { file =>
      val in = file.stream()
      try Source.fromInputStream(in, "UTF-8").mkString.trim.stripPrefix("{").stripSuffix("}").trim
      finally in.close()
    }
    val whole = members.mkString("{\n  ", ",\n  ", "\n}\n").getBytes("UTF-8")
    Right(Vector(JarEntry(file, () => new ByteArrayInputStream(whole))))
  }
}
