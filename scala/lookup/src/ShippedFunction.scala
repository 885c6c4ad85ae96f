package io.firesteel.lookup

import java.nio.ByteBuffer

import org.apache.spark.SparkEnv

/**
 * A lookup function in serialized form. Each task makes functions of its own from the bytes. A task
 * with several partitions (`coalesce`) opens and closes one for each.
 *
 * The driver keeps the function as long as the RDD: Spark's cleaner removes broadcasts that nothing
 * on the driver refers to, and bytes refer to nothing. (The reader of `firesteel-files` has one.)
 */
private[lookup] final class ShippedFunction(function: LookupFunction) extends Serializable {

  @transient private val original: LookupFunction = function

  val bytes: Array[Byte] = {
    val buffer = SparkEnv.get.closureSerializer.newInstance().serialize(original)
    val array = new Array[Byte](buffer.remaining())
    buffer.get(array)
    array
  }

  /** A new function for the caller. */
  def received(): LookupFunction =
    SparkEnv.get.closureSerializer
      .newInstance()
      .deserialize[LookupFunction](
        ByteBuffer.wrap(bytes),
        Thread.currentThread().getContextClassLoader)
}
