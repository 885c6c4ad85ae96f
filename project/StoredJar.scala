import java.io.{BufferedOutputStream, File, FileOutputStream}
import java.util.jar.JarFile
import java.util.zip.{Deflater, ZipEntry, ZipOutputStream}

import scala.jdk.CollectionConverters.enumerationAsScalaIteratorConverter

/**
 * A jar whose files are not compressed. Classes of one package name the same things, so a wheel, which
 * compresses the jar as a whole, becomes a quarter smaller than with a jar of compressed files.
 */
object StoredJar {

  /** Writes the files of `jar` to `target`: the manifest first, as Java wants it, then by name. */
  def write(jar: File, target: File): Unit = {
    target.getParentFile.mkdirs()
    val from = new JarFile(jar)
    val to = new ZipOutputStream(new BufferedOutputStream(new FileOutputStream(target)))
    try {
      to.setLevel(Deflater.NO_COMPRESSION)
      val files = from.entries.asScala.filterNot(_.isDirectory).map(_.getName).toSeq
      files.sortBy(name => (name != JarFile.MANIFEST_NAME, name)).foreach { name =>
        val entry = new ZipEntry(name)
        entry.setTime(from.getEntry(name).getTime)
        to.putNextEntry(entry)
        from.getInputStream(from.getEntry(name)).transferTo(to)
        to.closeEntry()
      }
    } finally {
      to.close()
      from.close()
    }
  }
}
