package io.firesteel.changelog.state

import org.apache.spark.sql.execution.streaming.state.{NoPrefixKeyStateEncoderSpec, PrefixKeyScanStateEncoderSpec}
import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.scalatest.funsuite.AnyFunSuite

/** What a store has, and how it differs from what a checkpoint has. */
class StateLayoutSuite extends AnyFunSuite {

  private def schema(ddl: String): StructType =
    StructType(StructType.fromDDL(ddl).map(f => StateLayout.field("op", f.name, f.dataType)))

  private def layout(key: String, value: String, prefix: Int = 0): StateLayout =
    StateLayout("op", schema(key), schema(value), prefix)

  private val its = layout("k BIGINT, a ARRAY<INT>", "n BIGINT")

  test("the same layout has no differences, and nullability is none") {
    assert(its.differences(its.key, its.value).isEmpty)
    val strict = StructType(its.key.map(_.copy(nullable = false)))
    assert(its.differences(strict, its.value).isEmpty)
  }

  test("each column that differs is told, with what it was and what it is") {
    assert(its.differences(schema("k STRING, a ARRAY<INT>"), schema("m BIGINT")) == Seq(
      "key column op_k: STRING is now op_k: BIGINT",
      "value column op_m: BIGINT is now op_n: BIGINT"))
    assert(its.differences(schema("k BIGINT"), its.value) ==
      Seq("key column none is now op_a: ARRAY<INT>"))
    assert(its.differences(its.key, its.expiring.value) ==
      Seq("value column op_written_at: BIGINT is now none"))
  }

  test("a store that is scanned by the beginning of its keys has an encoder that can") {
    assert(its.encoder == NoPrefixKeyStateEncoderSpec(its.key))
    val scanned = layout("k BIGINT, e BIGINT", "n BIGINT", prefix = 1)
    assert(scanned.encoder == PrefixKeyScanStateEncoderSpec(scanned.key, 1))
  }

  test("tables lie side by side in one store, behind the operator's keys") {
    val tables = Seq("left", "right").map(TableLayout(_, schema("e BIGINT"), schema("n BIGINT")))
    val both = StateLayout.ofTables("op", Seq(StringType, LongType), tables)
    assert(both.key.names.toSeq == Seq(
      "op_key_0",
      "op_key_1",
      "op_table",
      "op_position",
      "op_entry"))
    assert(both.value.names.toSeq == Seq("op_value") && both.prefix == 3)
    assert((both.key ++ both.value).forall(_.nullable))
  }
}
