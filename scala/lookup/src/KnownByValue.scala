package io.firesteel.lookup

/**
 * A lookup function that says what its answers depend on. PARTIAL caches are told apart by it, and else
 * by the bytes of the function, which differ in each micro-batch if it carries something made for that
 * one alone, such as a broadcast.
 */
private[lookup] trait KnownByValue {

  /** Equal for functions with the same answers. */
  def value: AnyRef
}
