package io.firesteel.json

/** One step from a value to a value inside it. */
abstract private[json] class Walk {

  private[this] var start = JsonText.HandOver
  private[this] var end = JsonText.HandOver

  /** Where the step ends; negative if nothing is there. */
  final def from: Int = start

  final def until: Int = end

  final protected def found(from: Int, until: Int): Unit = {
    start = from
    end = until
  }

  /** Steps into the value at `at`; false if Spark must do it. */
  def step(text: JsonText, at: Int): Boolean
}

private[json] object Walk {
  def of(step: Reading.Step): Walk = step match {
    case Reading.Name(name) => new NameWalk(name)
    case Reading.Index(index) => new IndexWalk(index)
  }
}

final private class NameWalk(name: String) extends Walk {

  private[this] val members = new Members(Array(Readers.bytesOf(name)))

  override def step(text: JsonText, at: Int): Boolean =
    if (text.byteAt(at) != '{') {
      found(-1, -1)
      true
    } else {
      val after = members.find(text, at + 1, 0)
      found(members.starts(0), members.ends(0))
      after >= 0
    }
}

final private class IndexWalk(index: Int) extends Walk {

  private[this] val places = new Places

  override def step(text: JsonText, at: Int): Boolean = {
    if (text.byteAt(at) != '[') found(-1, -1)
    else {
      places.ofElements(text, at + 1)
      if (index < places.size) found(places.start(index), places.end(index)) else found(-1, -1)
    }
    true
  }
}
