package io.firesteel.changelog.over

import io.firesteel.changelog.fold.Tally

/**
 * Changes of a part of a partition.
 *
 * @param net the rows that come into the result, and those that leave it, as a number
 */
final private[over] case class OverPart(partition: OverPartition, net: Tally.Map)
