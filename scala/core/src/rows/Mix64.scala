package io.firesteel.core.rows

/**
 * Mixes the bits of a word: words that differ in few bits get hashes that differ in many. The
 * finalizer of MurmurHash3 (Austin Appleby, public domain).
 */
private[firesteel] object Mix64 {

  def apply(word: Long): Long = {
    var h = word
    h = (h ^ (h >>> 33)) * 0xff51afd7ed558ccdL
    h = (h ^ (h >>> 33)) * 0xc4ceb9fe1a85ec53L
    h ^ (h >>> 33)
  }
}
