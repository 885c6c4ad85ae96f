package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.AttributeSet

/** Removes functions whose results nothing reads, and columns that nothing else reads. */
private[plan] object OverColumns {

  type Narrow = (ChangelogOperator, AttributeSet) => ChangelogOperator

  def prune(over: OverAggregate, read: AttributeSet, only: Narrow): ChangelogOperator = {
    val kept = over.results.indices.filter(i => read.contains(over.results(i)))
    val calls = kept.map(over.calls(_))
    val asked = AttributeSet.fromAttributeSets((over.partition ++ over.order ++ over.asked)
      .map(_.references))
    val needed = read -- AttributeSet(over.results ++ over.copyNumber)
    if (kept.isEmpty) only(over.input, needed)
    else over.copy(
      calls = calls,
      results = kept.map(over.results(_)),
      copyNumber = over.copyNumber.filter(read.contains(_)),
      input = only(over.input, needed ++ asked))
  }
}
