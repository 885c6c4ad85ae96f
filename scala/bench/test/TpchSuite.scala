package io.firesteel.bench

/** The queries of TPC-H as streams: every table but region and nation is one. */
abstract class TpchSuite extends StreamsSuite {

  protected val small: Set[String] = TpchFiles.isSmall

  protected def unordered(query: String): String = TpchFiles.unordered(TpchTables.sql(query))
}
