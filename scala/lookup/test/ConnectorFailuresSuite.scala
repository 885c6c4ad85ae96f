package io.firesteel.lookup

import io.firesteel.core.errors.FiresteelException
import org.apache.spark.sql.catalyst.InternalRow

/** The error of a connector that throws names it, the method, the subject and its own message. */
class ConnectorFailuresSuite extends LookupSuite {

  private def thrown(
      behaviour: StoreBehaviour,
      partitioner: InputDataPartitioner = LastDigit): FiresteelException = {
    store("customers", spark.range(9).toDF("id"), behaviour, partitioner = Some(partitioner))
    val failure = intercept[Exception](
      spark.sql("SELECT /*+ LOOKUP('table'='c', 'shuffle'='true') */ * FROM range(3) o " +
        "JOIN mem.customers c ON o.id = c.id").collect())
    Iterator
      .iterate[Throwable](failure)(_.getCause)
      .takeWhile(_ != null)
      .collectFirst { case ours: FiresteelException => ours }
      .getOrElse(throw failure)
  }

  private val subjects = Seq(
    "lookupKeys" -> "the columns id",
    "partitionKeys" -> "the keys id",
    "getPartitioner" -> "the keys id",
    "newLookup" -> "this query",
    "open" -> "the task ",
    "close" -> "the task "
  )

  for ((method, subject) <- subjects) {
    test(s"what $method throws has the connector's name, $subject and its message") {
      val error = thrown(StoreBehaviour(throwsIn = method))
      assert(error.getCondition == "FIRESTEEL_LOOKUP_METHOD_FAILED")
      val start = s"The lookup connector customers failed in $method for $subject"
      assert(error.getMessage.contains(start) && error.getMessage.contains(s": no $method today"))
      assert(error.getCause.getMessage == s"no $method today")
    }
  }

  test("what a partitioner throws has the connector's name, the key and its message") {
    val told = thrown(StoreBehaviour(), Thrower).getMessage.linesIterator.next()
    // The first task that fails.
    assert(told.replaceAll("[012]L", "nL").endsWith(
      "The lookup connector customers failed in partition for the key (nL): no such shard"))
  }

  test("a connector whose calls take no keys is an error") {
    val error = thrown(StoreBehaviour(maxBatch = 0))
    assert(error.getCondition == "FIRESTEEL_LOOKUP_BAD_BATCH_KEYS")
    assert(error.getMessage.contains("maxBatchKeys = 0"))
  }
}

object Thrower extends InputDataPartitioner {
  override def partition(joinKeys: InternalRow, numPartitions: Int): Int =
    throw new IllegalArgumentException("no such shard")
}
