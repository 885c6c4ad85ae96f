package org.apache.spark.sql.execution.streaming.state.firesteel

import java.io.DataInputStream

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.{SparkConf, SparkEnv}
import org.apache.spark.io.CompressionCodec
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.state.{HDFSBackedStateStoreProvider, StateStoreConf, StateStoreId, StateStoreProvider}
import org.apache.spark.sql.types.StructType

/**
 * Spark's in-memory provider with what is private in it: how it opens its files. The package is inside
 * the one to which they are private.
 */
abstract class StateFilesProvider extends HDFSBackedStateStoreProvider {

  /** Opens a file of the state as its content. */
  final protected def opened(
      file: Path,
      conf: StateStoreConf,
      hadoop: Configuration): DataInputStream = {
    val spark = Option(SparkEnv.get).map(_.conf).getOrElse(new SparkConf)
    val bytes = CheckpointFileManager.create(file.getParent, hadoop).open(file)
    new DataInputStream(
      CompressionCodec.createCodec(spark, conf.compressionCodec).compressedInputStream(bytes))
  }

  /** The names of the files in a folder. */
  final protected def namesIn(folder: Path, hadoop: Configuration): Seq[String] =
    CheckpointFileManager.create(folder, hadoop).list(folder).map(_.getPath.getName).toSeq

  /** Whether rows have the types that they should have, as Spark checks it. */
  final protected def check(
      id: StateStoreId,
      conf: StateStoreConf,
      key: (UnsafeRow, StructType),
      value: (UnsafeRow, StructType)): Unit = {
    val _ = id
    StateStoreProvider.validateStateRowFormat(key._1, key._2, value._1, value._2, conf)
  }

  /** Later versions tell the driver of the snapshot that was read. */
  final protected def report(
      snapshot: Long,
      id: StateStoreId,
      conf: StateStoreConf,
      hadoop: Configuration): Unit = {
    val _ = (snapshot, id, conf, hadoop)
  }
}
