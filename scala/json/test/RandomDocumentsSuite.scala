package io.firesteel.json

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Random

import io.firesteel.testkit.{TestSize, TimedSuite}

import org.apache.spark.sql.types.{ArrayType, MapType, StringType, StructType}

/**
 * Random schemas and documents, and documents with a changed byte: Spark's rows.
 *
 * A case has 20 documents and 180 changed ones: `FIRESTEEL_TEST_QUERIES=5600` are a million changed.
 */
class RandomDocumentsSuite extends TimedSuite {

  test("random documents and changed ones") {
    var (all, read) = (0L, 0L)
    for (i <- 0 until TestSize.cases(40)) {
      val random = new Random(TestSize.seed(20261127L) + i)
      val made = new RandomDocuments(random)
      val schema = made.struct(2)
      val comparison = new Comparison(expressions(schema, made, random))
      for (_ <- 0 until 20) {
        val document = made.document(schema).getBytes(UTF_8)
        val documents = document +: Seq.fill(9)(made.mutated(document))
        for (each <- documents) {
          val difference = comparison.difference(each)
          val _ = assert(difference.isEmpty, s"case $i, ${schema.sql}: ${difference.mkString}")
          all += 1
        }
      }
      read += comparison.read
    }
    info(s"$all documents, of which $read were read here")
    assert(read * 6 > all, "the fast path read hardly anything")
  }

  private def expressions(schema: StructType, made: RandomDocuments, random: Random) = {
    val names = schema.names.toSeq :+ "none"
    val nested = schema.collectFirst {
      case field if field.dataType.isInstanceOf[StructType] =>
        s"$$['${field.name}'].${field.dataType.asInstanceOf[StructType].names.head.split(' ').head}"
      case field if field.dataType.isInstanceOf[ArrayType] => s"$$['${field.name}'][1]"
    }
    Seq(
      Comparison.fromJson(schema),
      Comparison.field(StructType(Seq(schema(random.nextInt(schema.length))))),
      Comparison.get(s"$$['${names(random.nextInt(names.length))}']"),
      Comparison.tuple(names: _*)
    ) ++
      nested.map(Comparison.get) ++
      Option.when(random.nextInt(4) == 0)(
        Comparison.fromJson(MapType(StringType, made.dataType(1))))
  }

  test("a byte flipped, left out, doubled, or cut at each place of a document") {
    val document = ChangedOrder.document.getBytes(UTF_8)
    val comparison = new Comparison(Seq(
      Comparison.fromJson(ChangedOrder.schema),
      Comparison.field("price DOUBLE"),
      Comparison.get("$.address.city"),
      Comparison.tuple("status", "tags")))
    val changed = document.indices.flatMap { at =>
      val (before, after) = (document.take(at), document.drop(at + 1))
      (0 until 8).map(bit => (before :+ (document(at) ^ (1 << bit)).toByte) ++ after) ++
        Seq(before, before ++ after, before ++ Array(document(at), document(at)) ++ after)
    }
    val differences = changed.flatMap(comparison.difference)
    assert(differences.isEmpty, differences.take(3).mkString("\n"))
  }
}

private object ChangedOrder {
  val schema: String =
    "order_id BIGINT, status STRING, price DOUBLE, discount DECIMAL(10,2), placed TIMESTAMP, " +
      "shipped DATE, express BOOLEAN, address STRUCT<city: STRING, zip: INT>, tags ARRAY<STRING>"

  val document: String =
    """{"order_id":123456789012,"customer":"caf\n","status":"paid","price":-12.50,""" +
      """"discount":0.75,"placed":"2026-03-10T12:30:45.123Z","shipped":"2026-03-12",""" +
      """"express":true,"address":{"street":"1 \"Long\" Street","city":"Berlin","zip":10115},""" +
      """"tags":["new", "日本"],"extra":{"a":[1,2.5e3,null,{}]}, "last" : null }"""
}
