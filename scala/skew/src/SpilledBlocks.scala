package io.firesteel.skew

import java.io.{DataInputStream, DataOutputStream}

import org.apache.spark.TaskContext
import org.apache.spark.sql.firesteel.SpillFile

/** Blocks on the executor's disk, in files that are deleted when the task ends. */
private[skew] final class SpilledBlocks(files: Int) {

  private[this] val spilled = Array.fill(files)(new SpillFile)
  private[this] val outs = spilled.map(file => new DataOutputStream(file.output()))
  TaskContext.get().addTaskCompletionListener[Unit] { _ =>
    outs.foreach(_.close())
    spilled.foreach(_.delete())
  }

  private[this] val counts = new Array[Int](files)

  def add(file: Int, block: Array[Byte]): Unit = {
    counts(file) += 1
    outs(file).writeInt(block.length)
    outs(file).write(block)
  }

  /** Ends writing. */
  def finish(): Unit = outs.foreach(_.close())

  /** The blocks of a file. The file is deleted after the last block. */
  def blocks(file: Int): Iterator[Array[Byte]] = {
    val in = new DataInputStream(spilled(file).input())
    Iterator.range(0, counts(file)).map { _ =>
      val block = new Array[Byte](in.readInt())
      in.readFully(block)
      block
    } ++ { in.close(); spilled(file).delete(); Iterator.empty }
  }
}
