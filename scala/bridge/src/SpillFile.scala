package org.apache.spark.sql.firesteel

import java.io.{BufferedInputStream, BufferedOutputStream, FileInputStream, FileOutputStream, InputStream, OutputStream}

import org.apache.spark.SparkEnv

/** A temporary file of this executor, compressed and encrypted as Spark's spill files. */
final class SpillFile {

  private val (block, file) = SparkEnv.get.blockManager.diskBlockManager.createTempLocalBlock()

  def output(): OutputStream = SparkEnv.get.serializerManager
    .wrapStream(block, new BufferedOutputStream(new FileOutputStream(file)))

  def input(): InputStream = SparkEnv.get.serializerManager
    .wrapStream(block, new BufferedInputStream(new FileInputStream(file)))

  /** Size on disk in bytes. */
  def size: Long = file.length()

  def delete(): Unit = {
    val _ = file.delete()
  }
}
