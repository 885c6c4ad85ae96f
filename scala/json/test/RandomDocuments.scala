package io.firesteel.json

import java.util.Random

import org.apache.spark.sql.types._

/** Random schemas, documents that nearly fit them, and documents with one byte changed. */
final class RandomDocuments(random: Random) {

  private val names = Seq("a", "b", "c", "id", "\u00e9", "a long name of a member", "A", "x_1")

  private def pick[T](values: Seq[T]): T = values(random.nextInt(values.length))

  private def often(outOf: Int): Boolean = random.nextInt(outOf) != 0

  def struct(depth: Int): StructType = {
    val chosen = names.filter(_ => random.nextBoolean())
    StructType((if (chosen.isEmpty) Seq("a") else chosen).map(StructField(_, dataType(depth))))
  }

  def dataType(depth: Int): DataType = random.nextInt(if (depth > 0) 17 else 14) match {
    case 0 => BooleanType
    case 1 => ByteType
    case 2 => ShortType
    case 3 => IntegerType
    case 4 | 5 => LongType
    case 6 => FloatType
    case 7 => DoubleType
    case 8 =>
      val precision = 1 + random.nextInt(38)
      DecimalType(precision, random.nextInt(precision + 1))
    case 9 => pick(Seq(DateType, TimestampType, TimestampNTZType))
    case 10 | 11 | 12 => StringType
    case 13 => BinaryType
    case 14 => struct(depth - 1)
    case 15 => ArrayType(dataType(depth - 1))
    case _ => MapType(StringType, dataType(depth - 1))
  }

  def document(schema: DataType): String = s"$space${value(schema)}$space"

  private def space: String = if (often(4)) "" else pick(Seq(" ", "\n", "  \t", "\r\n"))

  private def string: String = pick(Seq(
    "",
    "a",
    "some text of a usual length",
    "\u00e9t\u00e9 \u65e5\u672c\u8a9e",
    "\ud83d\ude00",
    "\\u0041\\n",
    "\\\"quoted\\\"",
    "\\ud83d\\ude00",
    "\\ud83d",
    "C:\\\\x",
    "2024-02-29",
    "2024-02-29T01:02:03Z",
    "12",
    "null"
  ))

  /** A number that fits, most of the time. */
  private def fitting(wanted: DataType): String =
    if (!often(30)) number
    else wanted match {
      case ByteType => (random.nextInt(256) - 128).toString
      case ShortType => random.nextInt(30000).toString
      case IntegerType => random.nextInt.toString
      case LongType => random.nextLong.toString
      case decimal: DecimalType =>
        val digits = math.max(math.min(decimal.precision - decimal.scale, 9), 0)
        val whole = if (digits == 0) "0" else random.nextInt(math.pow(10, digits).toInt).toString
        if (random.nextBoolean()) whole else s"$whole.${random.nextInt(1000)}"
      case _ => pick(Seq(random.nextInt(1000).toString, random.nextGaussian().toString, "1.5e3"))
    }

  private def number: String = random.nextInt(8) match {
    case 0 => random.nextInt(300).toString
    case 1 => (-random.nextInt(40000)).toString
    case 2 => random.nextInt.toString
    case 3 => random.nextLong.toString
    case 4 => (random.nextInt(100000) / 100.0).toString
    case 5 => random.nextGaussian().toString
    case 6 => java.lang.Double.longBitsToDouble(random.nextLong).toString.replace("NaN", "0")
    case _ => pick(Documents.values.slice(16, 80))
  }

  private def value(wanted: DataType): String =
    if (!often(12)) "null"
    else if (!often(100)) pick(Documents.values)
    else wanted match {
      case BooleanType => random.nextBoolean().toString
      case _: NumericType => fitting(wanted)
      case DateType | TimestampType | TimestampNTZType =>
        f""""20${random.nextInt(
            100)}%02d-${1 + random.nextInt(12)}%02d-${1 + random.nextInt(28)}%02d""" +
          (if (random.nextBoolean()) "\""
           else
             f"T${random.nextInt(24)}%02d:${random.nextInt(60)}%02d:00.${random.nextInt(1000)}%03d\"")
      case BinaryType if often(6) =>
        val bytes = new Array[Byte](random.nextInt(9))
        random.nextBytes(bytes)
        s""""${java.util.Base64.getEncoder.encodeToString(bytes)}""" + "\""
      case struct: StructType => members(struct.map(field => field.name -> value(field.dataType)))
      case array: ArrayType =>
        Seq.fill(random.nextInt(4))(value(array.elementType)).map(space + _ + space).mkString(
          "[",
          ",",
          "]")
      case map: MapType =>
        members(Seq.fill(random.nextInt(4))(pick(names)).map(_ -> value(map.valueType)))
      case _ => if (often(6)) s""""$string"""" else pick(Seq(number, "true", "[1, {\"a\":1.50}]"))
    }

  private def members(fields: Seq[(String, String)]): String = {
    val kept = fields.filter(_ => often(10)) ++
      (if (often(8)) Nil else Seq(pick(names) -> pick(Seq("1", "\"x\"", "{\"a\":[null]}"))))
    val order = if (often(3)) kept else kept.reverse
    order.map { case (name, value) => s"""$space"$name"$space:$space$value$space""" }.mkString(
      "{",
      ",",
      "}")
  }

  /** The document with a byte flipped, left out, doubled or replaced, or cut there. */
  def mutated(document: Array[Byte]): Array[Byte] =
    if (document.isEmpty) document
    else {
      val at = random.nextInt(document.length)
      val (before, after) = (document.take(at), document.drop(at + 1))
      random.nextInt(6) match {
        case 0 => (before :+ (document(at) ^ (1 << random.nextInt(8))).toByte) ++ after
        case 1 => before ++ after
        case 2 => before ++ Array(document(at), document(at)) ++ after
        case 3 => before
        case 4 => (before :+ pick("\"\\{}[]:,0-e.u\u0000\n'/ ".map(_.toByte))) ++ after
        case _ =>
          before ++ document.slice(at, math.min(document.length, at + 5)) ++ document.drop(at)
      }
    }
}
