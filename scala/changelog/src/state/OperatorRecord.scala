package io.firesteel.changelog.state

import io.firesteel.changelog.common.TextDetails

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode

/**
 * One JSON record per operator, in `state/<operator>/_metadata/firesteel` of the checkpoint, next
 * to Spark's own files. A checkpoint without it is accepted, and the record is added.
 *
 * @param operator the operator's name, which never changes
 * @param distribution columns of the state's key by whose hash entries are distributed over
 *   partitions; none if every partition has every entry
 * @param tables names of the tables in the store; none if the store has one layout only
 * @param replicated names of the tables with the same entries in every partition
 * @param members the operators of the query whose state it has: its own, and those of its guests
 * @param choices what the query chose when it began
 * @param plan how the query was read as operators, see [[PlanVersion]]
 * @param format version of the format in which the record was written
 */
final private[changelog] case class OperatorRecord(
    operator: String,
    distribution: Seq[String],
    tables: Seq[String],
    replicated: Seq[String],
    members: Seq[MemberRecord],
    choices: PlanChoices = PlanChoices.none,
    plan: Int = PlanVersion.current,
    format: Int = OperatorRecord.version) {
  import OperatorRecord.compared

  /** How this query differs from that of an earlier record, in words; empty if it does not. */
  def differences(before: OperatorRecord): Seq[String] =
    compared("operator", Seq(before.operator), Seq(operator)).toSeq ++
      compared("distribution", before.distribution, distribution).toSeq ++
      members.map(Option(_)).zipAll(before.members.map(Option(_)), None, None).flatMap {
        case (Some(now), Some(old)) if before.format == 1 => now.early.differences(old.early)
        // Before, columns of a subquery had ids, which differ at each start.
        case (Some(now), Some(old))
            if before.plan < PlanVersion.closedSessions && now.differences(
              old.withoutIds).isEmpty => Nil
        case (Some(now), Some(old)) => now.differences(old)
        case (now, old) => compared("member", old.map(_.operator).toSeq, now.map(_.operator).toSeq)
      }

  def json: String = {
    val root = OperatorRecord.mapper.createObjectNode()
    root.put("version", OperatorRecord.version).put("plan", plan).put("operator", operator)
    OperatorRecord.put(root, "distribution", distribution)
    OperatorRecord.put(root, "tables", tables)
    OperatorRecord.put(root, "replicated", replicated)
    root.put("removesShuffles", choices.removesShuffles)
      .put("byPartialKey", choices.byPartialKey).put("sharesStores", choices.sharesStores)
      .put("mixesScans", choices.mixesScans).put("panesFrom", choices.panesFrom)
      .put("sharesParts", choices.sharesParts).put("tiesByKeys", choices.tiesByKeys)
    val all = root.putArray("members")
    members.foreach { member =>
      val node = all.addObject()
      MemberRecord.parts.foreach { case (name, of) => OperatorRecord.put(node, name, of(member)) }
      val calls = node.putArray("calls")
      member.calls.foreach { call =>
        OperatorRecord.put(calls.addObject().put("call", call.text), "state", call.columns)
      }
    }
    OperatorRecord.mapper.writeValueAsString(root)
  }
}

private[changelog] object OperatorRecord {

  /**
   * Version of the format. A later version reads all earlier ones. Version 1 had neither the
   * columns of calls, nor the stored columns, nor the details of expressions, and of equal columns
   * one.
   */
  val version: Int = 2

  private val mapper = new ObjectMapper

  /** The record; or the version of it or of its plan, if that is later than this one. */
  def read(text: String): Either[Int, OperatorRecord] = {
    val root = mapper.readTree(text)
    val found = root.path("version").asInt(0)
    val plan = root.path("plan").asInt(PlanVersion.first)
    if (found > version) Left(found)
    else if (plan > PlanVersion.current) Left(plan)
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
            calls = node.path("calls").elements().asScala.toSeq.map { call =>
              if (call.isTextual) CallRecord(call.asText())
              else CallRecord(call.path("call").asText(), list(call, "state"))
            },
            order = list(node, "order"),
            places = list(node, "places").headOption,
            filters = list(node, "filters"),
            columns = list(node, "columns"),
            stored = list(node, "stored"),
            distribution = list(node, "distribution")
          )
        },
        PlanChoices(
          root.path("removesShuffles").asBoolean(false),
          root.path("byPartialKey").asBoolean(false),
          root.path("sharesStores").asBoolean(false),
          root.path("mixesScans").asBoolean(false),
          root.path("panesFrom").asLong(0L),
          root.path("sharesParts").asBoolean(false),
          root.path("tiesByKeys").asBoolean(false)
        ),
        plan,
        found
      ))
  }

  /** A changed part of a record, in words. */
  def compared(part: String, old: Seq[String], now: Seq[String]): Option[String] =
    Option.when(old != now)(s"$part [${old.mkString(", ")}] is now [${now.mkString(", ")}]")

  private def put(node: ObjectNode, name: String, values: Seq[String]): Unit = {
    val array = node.putArray(name)
    values.foreach(array.add(_: String))
  }

  private def list(node: JsonNode, name: String): Seq[String] =
    node.path(name).elements().asScala.map(_.asText()).toSeq
}

/**
 * One operator of the query, in the canonical text of the analysed query: without expression ids
 * and literals, and equal in all versions of Spark.
 *
 * @param calls one entry per aggregate call
 * @param places which places of an order are kept
 * @param filters conditions above it, up to the next stateful operator
 * @param columns columns of its result that are read there
 * @param stored columns of its input, where the state has them by their places
 * @param distribution of a guest, the columns of the store's key by whose hash its entries are
 *   distributed
 */
final private[changelog] case class MemberRecord(
    operator: String,
    keys: Seq[String] = Nil,
    calls: Seq[CallRecord] = Nil,
    order: Seq[String] = Nil,
    places: Option[String] = None,
    filters: Seq[String] = Nil,
    columns: Seq[String] = Nil,
    stored: Seq[String] = Nil,
    distribution: Seq[String] = Nil) {

  /** The same as version 1 would have recorded it. */
  def early: MemberRecord = {
    def texts(all: Seq[String]) = all.map(MemberRecord.early)
    MemberRecord(
      operator,
      texts(keys),
      calls.map(call => CallRecord(MemberRecord.early(call.text))),
      texts(order),
      places,
      texts(filters).sorted,
      texts(columns).distinct.sorted
    )
  }

  /** The same without ids in the names of columns, as `v#12L`. */
  def withoutIds: MemberRecord = {
    def bare(text: String) = MemberRecord.ids.replaceAllIn(text, "")
    copy(
      keys = keys.map(bare),
      calls = calls.map(call => call.copy(text = bare(call.text))),
      order = order.map(bare),
      filters = filters.map(bare).sorted,
      columns = columns.map(bare).sorted,
      stored = stored.map(bare)
    )
  }

  /** How it differs from an earlier one, in words. */
  def differences(before: MemberRecord): Seq[String] = {
    // State whose columns have names is found in any order.
    val named = (calls ++ before.calls).forall(_.columns.nonEmpty)
    def texts(member: MemberRecord): Seq[String] = {
      val all = member.calls.map(_.text)
      if (named) all.sorted else all
    }
    val old = before.copy(stored = before.stored.zipAll(stored, "", "").map {
      case (text, MemberRecord.identity) if MemberRecord.isIdentity(text) => MemberRecord.identity
      case (text, _) => text
    }.take(before.stored.size))
    MemberRecord.parts.flatMap { case (name, of) =>
      OperatorRecord.compared(name, of(old), of(this))
    } ++ OperatorRecord.compared("calls", texts(before), texts(this))
  }
}

private[changelog] object MemberRecord {

  // Not after a space: ` #1` tells columns of one name apart.
  private val ids = """(?<=\S)#\d+L?(-T\d+ms)?""".r

  /** The text of a column with the hash of a whole source row, whatever columns the source has. */
  val identity: String = "identity"

  /** Whether a text is that of earlier versions, which had all columns in it. */
  private def isIdentity(text: String): Boolean =
    text.startsWith("xxhash64(") || text.startsWith("digest:")

  private val unequal = """(binary|digest):[0-9a-f]{16}""".r

  /**
   * A text as version 1 had it: without details, and without the digests of binary literals, which
   * differed at each start, and of long texts, which differ by the details.
   */
  private def early(text: String): String =
    unequal.replaceAllIn(TextDetails.without(text), "$1")

  val parts: Seq[(String, MemberRecord => Seq[String])] = Seq(
    "operator" -> (m => Seq(m.operator)),
    "keys" -> (_.keys),
    "order" -> (_.order),
    "places" -> (_.places.toSeq),
    "filters" -> (_.filters),
    "columns" -> (_.columns),
    "stored" -> (_.stored),
    "distribution" -> (_.distribution)
  )
}
