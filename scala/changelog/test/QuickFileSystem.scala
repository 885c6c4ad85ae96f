package io.firesteel.changelog

import org.apache.hadoop.fs.{LocalFileSystem, Path, RawLocalFileSystem}
import org.apache.hadoop.fs.permission.FsPermission

/**
 * The local file system without permissions, for each of which Hadoop starts a process: most of the
 * time of a micro-batch of a few rows.
 */
final class QuickFileSystem extends LocalFileSystem(new WithoutPermissions)

final private class WithoutPermissions extends RawLocalFileSystem {
  override def setPermission(path: Path, permission: FsPermission): Unit = ()
}
