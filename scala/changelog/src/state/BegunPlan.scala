package io.firesteel.changelog.state

import io.firesteel.changelog.common.{ChangelogConf, ChangelogErrors}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager
import org.apache.spark.sql.internal.SQLConf

/**
 * How a checkpoint began, before its query is read as operators.
 *
 * @param version the [[PlanVersion]]
 * @param isOurs whether operators of this room have written records
 */
final private[changelog] case class BegunPlan(
    version: Int,
    choices: PlanChoices,
    isOurs: Boolean = false)

private[changelog] object BegunPlan {

  /** A new query with all that this version can do. */
  val latest: BegunPlan =
    BegunPlan(PlanVersion.current, PlanChoices.none.copy(panesFrom = 2L, tiesByKeys = true))

  /** A query without a checkpoint. */
  def now(conf: SQLConf): BegunPlan = BegunPlan(
    PlanVersion.current,
    PlanChoices(
      conf.getConf(ChangelogConf.REMOVE_SHUFFLES),
      conf.getConf(ChangelogConf.PARTIAL_KEY),
      conf.getConf(ChangelogConf.MULTIPLE_INPUT),
      // The default provider has an index for scans, which would have the entries of all members.
      conf.stateStoreProviderClass.endsWith("RocksDBStateStoreProvider"),
      if (conf.getConf(ChangelogConf.PANES)) conf.getConf(ChangelogConf.PANES_MIN_OVERLAP) else 0L,
      conf.getConf(ChangelogConf.REUSE_SUB_PLAN),
      tiesByKeys = true
    )
  )

  /** The query of a checkpoint, which may be new. */
  def of(checkpoint: String, hadoopConf: Configuration, conf: SQLConf): BegunPlan = {
    val files = CheckpointFileManager.create(new Path(checkpoint), hadoopConf)
    def names(folder: String) = {
      val path = new Path(checkpoint, folder)
      if (!files.exists(path)) Nil else files.list(path).toSeq.map(_.getPath.getName)
    }
    val states = new Path(checkpoint, "state").toString
    val operators = names("state").flatMap(_.toLongOption)
    val records = operators.flatMap { operator =>
      new RecordFile(states, operator, hadoopConf).read().map { text =>
        OperatorRecord.read(text)
          .fold(later => throw ChangelogErrors.laterRecord(s"operator $operator", later), identity)
      }
    }
    // Spark's own operators write their schemas before the first micro-batch ends. A folder alone may
    // be one of ours, whose record was not written.
    def hasState = operators
      .exists(operator => names(s"state/$operator/_metadata").exists(!_.startsWith(".")))
    // A query without state has nothing that this version could read in another way.
    def hasCommits = operators.nonEmpty && names("commits").exists(_.toLongOption.nonEmpty)
    if (records.nonEmpty) {
      val choices = records.map(_.choices)
      BegunPlan(
        records.map(_.plan).max,
        PlanChoices(
          choices.exists(_.removesShuffles),
          choices.exists(_.byPartialKey),
          choices.exists(_.sharesStores),
          choices.exists(_.mixesScans),
          choices.map(_.panesFrom).max,
          choices.exists(_.sharesParts),
          choices.exists(_.tiesByKeys)
        ),
        isOurs = true
      )
    } else if (hasCommits || hasState) BegunPlan(PlanVersion.first, PlanChoices.none)
    else now(conf)
  }
}
