package io.firesteel.core.changes

import scala.annotation.tailrec

import org.apache.spark.NarrowDependency
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.firesteel.OwnStateStores

/** Rows as the operators of a changelog have emitted them. */
private[firesteel] object EmittedRows {

  /** Rows that are kept, so that nothing shows any more where they come from. */
  trait Kept { self: RDD[_] =>

    /** Whether [[isOfState]] holds for what was kept. */
    def isEmitted: Boolean
  }

  /** The rows of several statements. */
  trait Statements { self: RDD[_] =>

    /** Those of each, without numbers and structs. */
    def statements: Seq[RDD[InternalRow]]
  }

  /**
   * Whether an operator with state has emitted the rows, in this order. A shuffle would have changed
   * it.
   */
  def isOfState(rows: RDD[_]): Boolean = areOfState(Seq(rows))

  @tailrec
  private def areOfState(rdds: Seq[RDD[_]]): Boolean =
    if (rdds.isEmpty) false
    else if (rdds.exists(isItself)) true
    else areOfState(rdds.flatMap(narrowParents))

  private def isItself(rows: RDD[_]): Boolean = rows match {
    case kept: Kept => kept.isEmitted
    case other => OwnStateStores.areOfStores(other)
  }

  private def narrowParents(rdd: RDD[_]): Seq[RDD[_]] = rdd.dependencies.collect {
    case narrow: NarrowDependency[_] => narrow.rdd
  }
}
