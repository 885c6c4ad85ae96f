import sbtassembly.AssemblyPlugin.autoImport._

/** Relocation of every bundled library, because PySpark ships older versions of several and they win. */
object Shading {

  /** Package prefixes of bundled libraries. A room that bundles one adds its prefix here. */
  val prefixes: Seq[String] = Seq(
    "com.github.benmanes.caffeine",
    "com.zaxxer.hikari" // PySpark ships 2.5.1
  )

  val rules: Seq[com.eed3si9n.jarjarabrams.ShadeRule] =
    prefixes.map(p => ShadeRule.rename(s"$p.**" -> s"io.firesteel.shaded.$p.@1").inAll)
}
