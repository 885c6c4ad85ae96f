package io.firesteel.lookup.files

import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.firesteel.{binaryKey, normalizeFloats}
import org.apache.spark.sql.types.StructType

/** Normalises keys, so that equal keys have equal bytes. */
private[files] object LookupKey {

  /** Projects rows of `schema` to `keys`; normalises zeros, NaNs and collated strings. */
  def compile(keys: StructType, schema: StructType): UnsafeProjection =
    UnsafeProjection.create(keys.map { key =>
      val place = schema.fieldIndex(key.name)
      val column = BoundReference(place, schema(place).dataType, nullable = true)
      normalizeFloats(binaryKey(column))
    })
}
