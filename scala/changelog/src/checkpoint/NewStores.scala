package io.firesteel.changelog.checkpoint

import io.firesteel.changelog.common.TextFile

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.hadoop.fs.Path
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.execution.streaming.state.{OperatorStateMetadata, OperatorStateMetadataV1, StateStoreConf}
import org.apache.spark.sql.firesteel.{hasEmptyStores, Checkpoints}
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/**
 * Empty stores of operators that come into a query later, and what Spark notes of an operator.
 *
 * @param version of the stores: the number of the micro-batch that runs next
 */
final private[checkpoint] class NewStores(checkpoint: Checkpoint, version: Long) {
  import NewStores._

  private lazy val last = checkpoint.offset(version - 1).orElse(checkpoint.offset(version))

  /** What [[write]] needs of an operator. */
  def noted(number: Int, operator: OperatorStateMetadata): JsonNode = operator match {
    case its: OperatorStateMetadataV1 =>
      val root = mapper.createObjectNode()
      root.putObject("operatorInfo").put("operatorId", number.toLong)
        .put("operatorName", its.operatorInfo.operatorName)
      val stores = root.putArray("stateStoreInfo")
      val partitions = last.flatMap(_.partitions)
      its.stateStoreInfo.foreach { store =>
        stores.addObject().put("storeName", store.storeName)
          .put("numColsPrefixKey", store.numColsPrefixKey)
          .put("numPartitions", partitions.getOrElse(store.numPartitions))
      }
      if (version > 0) requireEmptyStores()
      root
    case its =>
      throw CheckpointErrors.notEditable(s"the operator ${its.operatorInfo.operatorName} is new")
  }

  private def requireEmptyStores(): Unit =
    if (conf.providerClass != StoredState.hdfs &&
      !(conf.providerClass == StoredState.rocksDb && hasEmptyStores)) {
      throw CheckpointErrors.notEditable(
        s"Spark $SPARK_VERSION has no empty stores for new operators in ${conf.providerClass}")
    }

  /** Writes the stores and the note of an operator. */
  def write(noted: JsonNode): Unit = {
    val number = numberOf(noted).toLong
    if (version > 0) {
      val name = noted.get("operatorInfo").get("operatorName").asText
      noted.get("stateStoreInfo").elements.asScala.foreach { store =>
        val prefix = store.get("numColsPrefixKey").asInt
        // An empty store does not have the columns.
        val columns = StructType.fromDDL((0 to prefix).map(i => s"c$i INT").mkString(", "))
        val stored = StoredState(
          checkpoint.state.toString,
          number,
          name,
          store.get("storeName").asText,
          StateHomes(columns, Nil),
          columns,
          prefix,
          conf,
          hadoop)
        val (root, at) = (checkpoint.state.toString, version)
        val partitions = store.get("numPartitions").asInt
        checkpoint.session.sparkContext.parallelize(0 until partitions, math.min(partitions, most))
          .foreach { partition =>
            val _ = stored.write(root, partition, at, Iterator.empty)
          }
      }
    }
    val file = new Path(checkpoint.state, s"$number/_metadata/metadata")
    new TextFile(checkpoint.files, file).write(s"v1\n${mapper.writeValueAsString(noted)}")
  }

  /** Spark runs a micro-batch that its log of offsets has, also without new rows. */
  def runNext(): Unit = for (entry <- last if checkpoint.offset(version).isEmpty) {
    val watermarkMs = checkpoint.commit(version - 1).flatMap(_.watermarkMs)
    val next = entry.repeated(watermarkMs, System.currentTimeMillis())
    val _ = checkpoint.offsets.add(version, next.text)
  }

  private lazy val conf: StateStoreConf = Checkpoints.storeConf(
    checkpoint.session,
    last.fold("{}")(_.metadata),
    Map.empty)

  private lazy val hadoop =
    checkpoint.session.sparkContext.broadcast(new SerializableConfiguration(checkpoint.hadoop))
}

private object NewStores {

  /** The operator's number. */
  def numberOf(noted: JsonNode): Int = noted.get("operatorInfo").get("operatorId").asInt

  private val mapper = new ObjectMapper

  /** Most tasks that write stores. */
  private val most = 200
}
