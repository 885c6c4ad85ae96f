package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeSet, Literal, NamedExpression}

/** Removes functions whose results nothing reads, and columns that nothing else reads. */
private[plan] object OverColumns {

  type Narrow = (ChangelogOperator, AttributeSet) => ChangelogOperator

  def prune(over: OverAggregate, read: AttributeSet, only: Narrow): ChangelogOperator = {
    val kept = over.results.indices.filter(i => read.contains(over.results(i)))
    val calls = kept.map(over.calls(_))
    val asked = AttributeSet.fromAttributeSets((over.partition ++ over.order ++ over.asked)
      .map(_.references))
    val needed = read -- AttributeSet(over.results ++ over.copyNumber)
    if (kept.isEmpty) {
      // Without results of theirs equal rows need no numbers.
      val below = only(over.input, needed)
      over.copyNumber.filter(read.contains(_)).fold(below) { number =>
        Projection(
          (below.output: Seq[NamedExpression]) :+ Alias(Literal(0L), number.name)(number.exprId),
          below)
      }
    } else over.copy(
      calls = calls,
      results = kept.map(over.results(_)),
      copyNumber = over.copyNumber.filter(read.contains(_)),
      input = only(over.input, needed ++ asked))
  }
}
