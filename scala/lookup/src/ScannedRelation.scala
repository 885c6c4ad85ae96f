package io.firesteel.lookup

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.types.StructType

/**
 * Scans of connectors, which are new objects in each micro-batch. Some have no equality, or one that
 * compares arrays by identity, as that of Spark's JDBC catalog.
 */
private[lookup] object ScannedRelation {

  /** A plan to compare with others, not to run. */
  def byValue(plan: LogicalPlan): LogicalPlan = plan.transform {
    case relation: DataSourceV2ScanRelation => relation.copy(scan = new ByValue(relation.scan))
  }

  final private class ByValue(private val scan: Scan) extends Scan {
    override def readSchema(): StructType = scan.readSchema()
    override def description(): String = scan.description()
    override def hashCode: Int = scan.getClass.hashCode

    override def equals(other: Any): Boolean = other match {
      case that: ByValue => same(scan, that.scan)
      case _ => false
    }
  }

  private def same(a: Any, b: Any): Boolean = (a, b) match {
    case (a: Array[_], b: Array[_]) =>
      a.length == b.length && a.indices.forall(i => same(a(i), b(i)))
    case (a: Product, b: Product) if a.getClass == b.getClass =>
      val (ofA, ofB) = (a.productIterator.toSeq, b.productIterator.toSeq)
      a == b || ofA.nonEmpty && ofA.size == ofB.size && ofA.zip(ofB).forall(p => same(p._1, p._2))
    case _ => a == b
  }
}
