package io.firesteel.changelog

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/**
 * The former name of [[io.firesteel.checkpoint.LocalCheckpointFileManager]], kept because existing
 * settings name it.
 */
final class LocalCheckpointFileManager(path: Path, hadoopConf: Configuration)
  extends io.firesteel.checkpoint.LocalCheckpointFileManager(path, hadoopConf)
