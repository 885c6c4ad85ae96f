package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.apache.spark.sql.execution.streaming.state.StateStore

/**
 * A checkpoint of its own for one run of a stream. Afterwards it is deleted, and the state is
 * unloaded, which Spark would keep for a minute.
 */
object ScratchCheckpoint {

  def in[A](scratch: Path)(body: Path => A): A = {
    Files.createDirectories(scratch)
    val checkpoint = Files.createTempDirectory(scratch.toAbsolutePath, "checkpoint")
    try body(checkpoint)
    finally {
      StateStore.stop()
      WholeFolder.delete(checkpoint)
    }
  }
}
