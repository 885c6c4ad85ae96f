package io.firesteel.sinks.folder

import io.firesteel.core.rows.PlainStrings
import io.firesteel.sinks.apply.Done

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * One version of a folder's table, with everything that a reader or the next micro-batch needs.
 *
 * @param schema the columns, as in the changelog
 * @param keys names of the columns that identify a row
 * @param buckets number of buckets, by the hash of the keys
 * @param files for each bucket with rows, its files, relative to the folder
 * @param retired files that are not in this version, with the time of their replacement
 * @param last the last micro-batch of each query
 */
final private[folder] case class FolderVersion(
    number: Long,
    schema: StructType,
    keys: Seq[String],
    buckets: Int,
    files: Map[Int, Seq[String]],
    retired: Map[String, Long],
    last: Map[String, Done]) {

  def json: String = {
    val root = FolderVersion.mapper.createObjectNode()
    root.put("format", FolderVersion.format)
    root.put("version", number)
    root.set[JsonNode]("schema", FolderVersion.mapper.readTree(schema.json))
    keys.foldLeft(root.putArray("keys"))(_.add(_))
    root.put("buckets", buckets)
    val listed = root.putObject("files")
    files.toSeq.sortBy(_._1).foreach { case (bucket, names) =>
      names.foldLeft(listed.putArray(bucket.toString))(_.add(_))
    }
    val replaced = root.putObject("retired")
    retired.toSeq.sorted.foreach { case (file, millis) => replaced.put(file, millis) }
    val done = root.putObject("last")
    last.toSeq.sortBy(_._1).foreach { case (query, Done(batch, id)) =>
      val one = done.putObject(query).put("batch", batch)
      id.foreach(one.put("id", _))
    }
    FolderVersion.mapper.writeValueAsString(root)
  }
}

private[folder] object FolderVersion {

  private val format = 2
  private val mapper = new ObjectMapper

  def parse(json: String): FolderVersion = {
    val root = mapper.readTree(json)
    require(root.path("format").asInt == format, s"a version of format ${root.path("format")}")
    FolderVersion(
      root.get("version").asLong,
      // Earlier versions kept collations of strings within arrays and structs.
      PlainStrings.of(DataType.fromJson(root.get("schema").toString)).asInstanceOf[StructType],
      root.get("keys").elements.asScala.map(_.asText).toSeq,
      root.get("buckets").asInt,
      entries(root.get("files")).map { case (bucket, names) =>
        bucket.toInt -> names.elements.asScala.map(_.asText).toSeq
      },
      entries(root.get("retired")).view.mapValues(_.asLong).toMap,
      entries(root.get("last")).view.mapValues { done =>
        Done(done.get("batch").asLong, Option(done.get("id")).map(_.asText))
      }.toMap
    )
  }

  private def entries(node: JsonNode): Map[String, JsonNode] =
    node.fieldNames.asScala.map(name => name -> node.get(name)).toMap
}
