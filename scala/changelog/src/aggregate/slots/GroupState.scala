package io.firesteel.changelog.aggregate.slots

/**
 * The state of a group in memory.
 *
 * @param longs the numbers of all slots, in order
 * @param refs the other values of all slots, in order
 */
final private[aggregate] class GroupState(
    val longs: GroupState.Longs,
    val refs: GroupState.Refs) {

  /** Another state with the same values. */
  def copy(): GroupState = new GroupState(longs.copy(), refs.copy())
}

private[aggregate] object GroupState {

  def apply(longs: Int, refs: Int): GroupState =
    new GroupState(new Longs(new Array[Long](longs), longs), new Refs(new Array[Any](refs), refs))

  /** Some neighbours in an array: those of one state, which has it alone or with others. */
  final class Longs(private[this] var all: Array[Long], size: Int) {
    private[this] var from = 0

    def apply(i: Int): Long = all(from + i)
    def update(i: Int, value: Long): Unit = all(from + i) = value

    def pointTo(array: Array[Long], start: Int): Unit = {
      all = array
      from = start
    }

    def copy(): Longs = new Longs(all.slice(from, from + size), size)
  }

  /** The same of values that are no numbers. */
  final class Refs(private[this] var all: Array[Any], size: Int) {
    private[this] var from = 0

    def apply(i: Int): Any = all(from + i)
    def update(i: Int, value: Any): Unit = all(from + i) = value

    def pointTo(array: Array[Any], start: Int): Unit = {
      all = array
      from = start
    }

    def copy(): Refs = new Refs(all.slice(from, from + size), size)
  }
}
