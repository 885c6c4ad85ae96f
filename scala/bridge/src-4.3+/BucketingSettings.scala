package org.apache.spark.sql.firesteel

import org.apache.spark.sql.internal.SQLConf

/** Settings of tables whose source reports how they lie. */
object BucketingSettings {

  /** Whether Spark treats a table by (a, b) as one by a. */
  def keysSubset: ConfigEntry[Boolean] = SQLConf.V2_BUCKETING_ALLOW_KEYS_SUBSET_OF_PARTITION_KEYS
}
