package io.firesteel.json

import java.nio.charset.StandardCharsets.UTF_8

/** Paths of names and indexes, such as `$.a.b[0]['c d']`. Wildcards and unusual names are Spark's. */
private[json] object JsonPath {

  // Spark's parser skips spaces and takes more characters; these it takes as they are.
  private val step =
    """\.([\p{L}\p{N}_$@#:/-]+)|\['([\p{L}\p{N}_$@#:/. -]+)'\]|\[([0-9]{1,8})\]""".r

  /** The steps of a path; none if it has no step, or one that is not read here. */
  def parse(path: String): Option[Seq[Reading.Step]] = {
    val steps = step.findAllMatchIn(path.drop(1)).toSeq
    val whole = path.startsWith("$") && steps.nonEmpty &&
      steps.map(_.matched).mkString == path.drop(1)
    Option.when(whole)(steps.map { found =>
      if (found.group(3) != null) Reading.Index(found.group(3).toInt)
      else Reading.Name(Option(found.group(1)).getOrElse(found.group(2)))
    }).filter(_.forall {
      case Reading.Name(name) => isPlain(name) && name.trim == name
      case _ => true
    })
  }

  /**
   * Whether a name in a document is this name exactly if its bytes are. A name with a replacement
   * character or half a surrogate is also that of malformed bytes.
   */
  def isPlain(name: String): Boolean =
    !name.contains('\uFFFD') && new String(name.getBytes(UTF_8), UTF_8) == name
}
