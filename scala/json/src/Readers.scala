package io.firesteel.json

import java.nio.charset.StandardCharsets.UTF_8
import java.time.ZoneId

import org.apache.spark.sql.types._

/** The readers of types. */
private[json] object Readers {

  /** The types without a reader that `dataType` is or has inside. */
  def unread(dataType: DataType): Seq[DataType] = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType |
        DateType | TimestampType | TimestampNTZType | BinaryType => Nil
    case decimal: DecimalType if decimal.scale >= 0 => Nil // a legacy setting allows others
    case _: CharType | _: VarcharType => Seq(dataType)
    case _: StringType => Nil
    case array: ArrayType => unread(array.elementType)
    // Spark refuses other keys, but not each source checks them.
    case map: MapType => if (isName(map.keyType)) unread(map.valueType) else Seq(map)
    case struct: StructType => struct.map(_.dataType).flatMap(unread)
    case other => Seq(other)
  }

  /**
   * @param source whether the text of a value that is no string is the document's own, as in files;
   *   otherwise it is written anew
   */
  def of(dataType: DataType, zone: ZoneId, source: Boolean = false): ValueReader = dataType match {
    case BooleanType => new BooleanReader
    case ByteType => new IntegerReader(1)
    case ShortType => new IntegerReader(2)
    case IntegerType => new IntegerReader(4)
    case LongType => new IntegerReader(8)
    case FloatType => new FloatReader
    case DoubleType => new DoubleReader
    case decimal: DecimalType => new DecimalReader(decimal)
    case DateType => new DateReader
    case TimestampType => new TimestampReader(zone)
    case TimestampNTZType => new LocalTimestampReader
    case BinaryType => new BinaryReader
    case array: ArrayType => new ArrayReader(of(array.elementType, zone, source))
    case map: MapType => new MapReader(of(map.valueType, zone, source))
    case struct: StructType =>
      new StructReader(
        struct.names.map(bytesOf),
        struct.map(field => of(field.dataType, zone, source)).toArray)
    case _ if source => new SourceReader
    case _ => new StringReader
  }

  private def isName(key: DataType): Boolean = key match {
    case _: CharType | _: VarcharType => false
    case _: StringType => true
    case _ => false
  }

  def bytesOf(name: String): Array[Byte] = name.getBytes(UTF_8)
}
