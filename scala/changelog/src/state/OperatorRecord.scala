package io.firesteel.changelog.state

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode

/**
 * What the checkpoint keeps of an operator beside Spark's own files: one record, as JSON, in
 * `state/<operator>/_metadata/firesteel`. A checkpoint without it is accepted, and gets it.
 *
 * @param operator the operator's name, which never changes
 * @param distribution columns of the state's key by whose hash entries are spread over partitions;
 *   none where every partition has every entry
 * @param tables names of the tables in the store; none where it has one thing
 * @param replicated names of those that are the same in every partition
 * @param members what the operator does; several of a fused one
 */
final private[changelog] case class OperatorRecord(
    operator: String,
    distribution: Seq[String],
    tables: Seq[String],
    replicated: Seq[String],
    members: Seq[MemberRecord]) {

  /** How the query of this record differs from that of an earlier one, in words; empty if not. */
  def differences(before: OperatorRecord): Seq[String] =
    compared("operator", Seq(before.operator), Seq(operator)).toSeq ++
      compared("distribution", before.distribution, distribution).toSeq ++
      members.map(Option(_)).zipAll(before.members.map(Option(_)), None, None).flatMap {
        case (Some(now), Some(old)) =>
          MemberRecord.parts.flatMap { case (name, of) => compared(name, of(old), of(now)) }
        case (now, old) => compared("member", old.map(_.operator).toSeq, now.map(_.operator).toSeq)
      }

  private def compared(part: String, old: Seq[String], now: Seq[String]): Option[String] =
    Option.when(old != now)(s"$part [${old.mkString(", ")}] is now [${now.mkString(", ")}]")

  def json: String = {
    val root = OperatorRecord.mapper.createObjectNode()
    root.put("version", OperatorRecord.version).put("operator", operator)
    OperatorRecord.put(root, "distribution", distribution)
    OperatorRecord.put(root, "tables", tables)
    OperatorRecord.put(root, "replicated", replicated)
    val all = root.putArray("members")
    members.foreach { member =>
      val node = all.addObject()
      MemberRecord.parts.foreach { case (name, of) => OperatorRecord.put(node, name, of(member)) }
    }
    OperatorRecord.mapper.writeValueAsString(root)
  }
}

private[changelog] object OperatorRecord {

  /** Of the format. A later one reads all earlier ones. */
  val version: Int = 1

  private val mapper = new ObjectMapper

  /** The version that a text is of, and its record, if that is no later than this one. */
  def read(text: String): Either[Int, OperatorRecord] = {
    val root = mapper.readTree(text)
    val found = root.path("version").asInt(0)
    if (found > version) Left(found)
    else
      Right(OperatorRecord(
        root.path("operator").asText(),
        list(root, "distribution"),
        list(root, "tables"),
        list(root, "replicated"),
        root.path("members").elements().asScala.toSeq.map { node =>
          MemberRecord(
            operator = list(node, "operator").mkString,
            keys = list(node, "keys"),
            calls = list(node, "calls"),
            order = list(node, "order"),
            places = list(node, "places").headOption,
            filters = list(node, "filters"),
            columns = list(node, "columns")
          )
        }
      ))
  }

  private def put(node: ObjectNode, name: String, values: Seq[String]): Unit = {
    val array = node.putArray(name)
    values.foreach(array.add(_: String))
  }

  private def list(node: JsonNode, name: String): Seq[String] =
    node.path(name).elements().asScala.map(_.asText()).toSeq
}

/**
 * What one operator of the query does, in the canonical text of the analysed query: no expression
 * ids, no literals, equal in all versions of Spark.
 *
 * @param calls one for each aggregate call
 * @param places which places of an order are kept
 * @param filters conditions above it, up to the next operator with state
 * @param columns what is read of its result there
 */
final private[changelog] case class MemberRecord(
    operator: String,
    keys: Seq[String] = Nil,
    calls: Seq[String] = Nil,
    order: Seq[String] = Nil,
    places: Option[String] = None,
    filters: Seq[String] = Nil,
    columns: Seq[String] = Nil)

private[changelog] object MemberRecord {

  val parts: Seq[(String, MemberRecord => Seq[String])] = Seq(
    "operator" -> (m => Seq(m.operator)),
    "keys" -> (_.keys),
    "calls" -> (_.calls),
    "order" -> (_.order),
    "places" -> (_.places.toSeq),
    "filters" -> (_.filters),
    "columns" -> (_.columns)
  )
}
