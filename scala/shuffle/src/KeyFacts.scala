package io.firesteel.shuffle

/**
 * What is known of the keys by which rows would be spread.
 *
 * @param distinct different values, at least
 * @param largestShare share of the rows that the most frequent value has, from 0 to 1; of nulls alone
 *   where no more is known
 * @param isShareKnown whether that is of all values
 * @param groupRate groups by these keys for each row that would be shuffled by them, at most, where they
 *   were counted; statistics are asked for it only where it matters
 * @param bytes size of the rows of which they are keys, by estimate, if one can be made
 * @param source where this is from, for the author of the query
 */
private[shuffle] final case class KeyFacts(
    distinct: BigInt,
    largestShare: Double,
    isShareKnown: Boolean,
    groupRate: Option[Double],
    bytes: Option[BigInt],
    source: String)
