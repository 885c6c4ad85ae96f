package io.firesteel.changelog.aggregate.slots

import java.util.Arrays

/**
 * The states of the groups 0, 1, 2, …. They lie side by side in blocks, not each in objects of its
 * own: a row of a group then reads one place of memory that the processor's cache does not have,
 * instead of four.
 *
 * @param longs numbers of a state
 * @param refs other values of a state
 */
final private[aggregate] class GroupStates(longs: Int, refs: Int) {
  import GroupStates._

  private[this] var blocksOfLongs = Array.empty[Array[Long]]
  private[this] var blocksOfRefs = Array.empty[Array[Any]]
  private[this] var count = 0
  private[this] val state = GroupState(longs, refs)

  def size: Int = count

  /** The state of a group; the next call makes the same object that of another. */
  def apply(group: Int): GroupState = {
    val (block, at) = (group >> bits, group & (perBlock - 1))
    state.longs.pointTo(blocksOfLongs(block), at * longs)
    if (refs > 0) state.refs.pointTo(blocksOfRefs(block), at * refs)
    state
  }

  /** Adds a group without rows. */
  def add(): GroupState = {
    val block = count >> bits
    if ((count & (perBlock - 1)) == 0) {
      if (block == blocksOfLongs.length) {
        val most = math.max(1, block * 2)
        blocksOfLongs = Arrays.copyOf(blocksOfLongs, most)
        blocksOfRefs = Arrays.copyOf(blocksOfRefs, most)
      }
      blocksOfLongs(block) = new Array[Long](longs * perBlock)
      if (refs > 0) blocksOfRefs(block) = new Array[Any](refs * perBlock)
    }
    count += 1
    apply(count - 1)
  }

  def clear(): Unit = {
    blocksOfLongs = Array.empty
    blocksOfRefs = Array.empty
    count = 0
  }
}

private object GroupStates {
  // A block of a task with few groups is small, and one of many has room for a page of memory.
  private val bits = 9
  private val perBlock = 1 << bits
}
