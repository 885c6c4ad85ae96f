package io.firesteel.changelog.statements

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.state.{BegunPlan, PlanChoices, PlanVersion}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/**
 * What a checkpoint has of its statement set.
 *
 * @param plan how the queries are read as operators, and what was chosen for them
 * @param left the statements that have left, each with the micro-batch that came next then
 * @param groups of statements that came into the set together
 * @param operators the owner of each operator with state, by the operator's number
 * @param sources of the query, by their places in the log of offsets
 */
final private[changelog] case class SetRecord(
    groups: Seq[SetRecord.Group],
    statements: Seq[SetRecord.Statement],
    parts: Seq[SetRecord.Part],
    operators: Seq[String],
    sources: Seq[String],
    plan: BegunPlan,
    left: Map[String, Long] = Map.empty) {
  import SetRecord._

  /** Statements with their modes, for errors. */
  def shown: Seq[String] = statements.map(its => s"${its.name} (${its.mode})")

  /** The parts that some of the statements read. */
  def partsOf(names: Set[String]): Seq[Part] = parts.filter(_.readers.exists(names))

  /** With the columns that parts of another record keep, where it has the parts. */
  def withColumnsOf(other: SetRecord): SetRecord = {
    val kept = other.parts.groupMap(its => (its.group, its.key))(_.columns)
    copy(parts = parts.map { its =>
      kept.get((its.group, its.key)).collect { case Seq(columns) => its.copy(columns = columns) }
        .getOrElse(its)
    })
  }

  def json: String = {
    val root = mapper.createObjectNode().put("version", version)
    val ofGroups = root.putArray("groups")
    groups.foreach { its =>
      ofGroups.addObject().put("from", its.from).put("batch", its.batch)
    }
    val ofStatements = root.putArray("statements")
    statements.foreach { its =>
      ofStatements.addObject().put("name", its.name).put("mode", its.mode).put("group", its.group)
        .put("reads", its.reads)
    }
    val ofParts = root.putArray("parts")
    parts.foreach { its =>
      val part = ofParts.addObject().put("group", its.group).put("name", its.name)
        .put("key", its.key).put("owner", its.owner)
      its.columns.foldLeft(part.putArray("columns"))(_.add(_))
      its.readers.foldLeft(part.putArray("readers"))(_.add(_))
    }
    operators.foldLeft(root.putArray("operators"))(_.add(_))
    sources.foldLeft(root.putArray("sources"))(_.add(_))
    val choices = plan.choices
    root.putObject("plan").put("version", plan.version)
      .put("removesShuffles", choices.removesShuffles).put("byPartialKey", choices.byPartialKey)
      .put("sharesStores", choices.sharesStores).put("mixesScans", choices.mixesScans)
      .put("panesFrom", choices.panesFrom).put("sharesParts", choices.sharesParts)
      .put("tiesByKeys", choices.tiesByKeys)
    val gone = root.putObject("left")
    left.foreach { case (name, batch) => gone.put(name, batch) }
    mapper.writeValueAsString(root)
  }
}

private[changelog] object SetRecord {

  /**
   * Statements that came into the set together. They share parts with each other alone.
   *
   * @param from where they began: `start` or `now`; empty for those that the set began with
   * @param batch the first micro-batch with them
   */
  final case class Group(from: String, batch: Long)

  /** @param reads a digest of what it reads of shared parts; empty if it reads none that change */
  final case class Statement(name: String, mode: String, group: Int, reads: String)

  /**
   * A shared part.
   *
   * @param name what it does, for errors
   * @param key of what it computes, the same at each start
   * @param owner the part as the owner of its operators
   * @param columns the places of those of its columns that it keeps
   * @param readers the statements that read it
   */
  final case class Part(
      group: Int,
      name: String,
      key: String,
      owner: String,
      columns: Seq[Int],
      readers: Seq[String])

  private val mapper = new ObjectMapper()
  private val version = 1

  def read(json: String): SetRecord = {
    val root = mapper.readTree(json)
    if (Seq("version", "plan", "left").exists(!root.has(_))) {
      throw ChangelogErrors.unsupportedOperator(
        "A statement set",
        "its checkpoint is of a development version that noted less of it",
        "start with a new checkpoint")
    }
    val written = root.get("version").asInt
    def later(found: Int) = ChangelogErrors.laterRecord("statement set", found)
    if (written > version) throw later(written)
    val plan = planOf(root.get("plan"))
    if (plan.version > PlanVersion.current) throw later(plan.version)
    SetRecord(
      each(root, "groups")(its => Group(its.get("from").asText, its.get("batch").asLong)),
      each(root, "statements") { its =>
        Statement(
          its.get("name").asText,
          its.get("mode").asText,
          its.get("group").asInt,
          its.path("reads").asText)
      },
      each(root, "parts") { its =>
        Part(
          its.get("group").asInt,
          its.get("name").asText,
          its.get("key").asText,
          its.get("owner").asText,
          each(its, "columns")(_.asInt),
          each(its, "readers")(_.asText)
        )
      },
      each(root, "operators")(_.asText),
      each(root, "sources")(_.asText),
      plan,
      root.get("left").fieldNames.asScala.map(name =>
        name -> root.get("left").get(name).asLong).toMap
    )
  }

  private def planOf(node: JsonNode): BegunPlan = BegunPlan(
    node.get("version").asInt,
    PlanChoices(
      node.get("removesShuffles").asBoolean,
      node.get("byPartialKey").asBoolean,
      node.get("sharesStores").asBoolean,
      node.get("mixesScans").asBoolean,
      node.get("panesFrom").asLong,
      node.get("sharesParts").asBoolean,
      node.path("tiesByKeys").asBoolean(false)
    ),
    isOurs = true
  )

  private def each[T](node: JsonNode, name: String)(read: JsonNode => T): Seq[T] =
    node.get(name).elements.asScala.map(read).toSeq
}
