package io.firesteel.shuffle

/**
 * Facts about the keys that rows would be spread by.
 *
 * @param distinct number of different values, at least
 * @param largestShare share of the rows with the most frequent value, from 0 to 1; the share of
 *   nulls if no more is known
 * @param isShareKnown whether `largestShare` covers all values
 * @param groupRate groups by these keys for each shuffled row, at most, if they were counted;
 *   statistics are read for it only when it matters
 * @param bytes estimated size of the rows, if there is an estimate
 * @param source where the facts come from, for `firesteel.explain`
 */
private[shuffle] final case class KeyFacts(
    distinct: BigInt,
    largestShare: Double,
    isShareKnown: Boolean,
    groupRate: Option[Double],
    bytes: Option[BigInt],
    source: String)
