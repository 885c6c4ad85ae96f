package io.firesteel.lookup

import java.nio.ByteBuffer

import org.apache.spark.SparkEnv

/**
 * A lookup function, as tasks receive it: each makes functions of its own from the bytes. A task may
 * run several partitions (`coalesce`), each of which opens and closes one.
 *
 * The driver keeps the function as long as the RDD: Spark's cleaner takes broadcasts away from the
 * executors once nothing in the driver refers to them, and bytes do not (what a function reads files
 * with holds one).
 */
private[lookup] final class ShippedFunction(function: LookupFunction) extends Serializable {

  @transient private val original: LookupFunction = function

  val bytes: Array[Byte] = {
    val buffer = SparkEnv.get.closureSerializer.newInstance().serialize(original)
    val array = new Array[Byte](buffer.remaining())
    buffer.get(array)
    array
  }

  /** A function of one's own. */
  def received(): LookupFunction =
    SparkEnv.get.closureSerializer
      .newInstance()
      .deserialize[LookupFunction](
        ByteBuffer.wrap(bytes),
        Thread.currentThread().getContextClassLoader)
}
