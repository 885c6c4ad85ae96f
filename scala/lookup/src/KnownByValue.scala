package io.firesteel.lookup

/**
 * A lookup function that names the values its answers depend on. They identify its PARTIAL cache.
 * Other functions are identified by their bytes, which differ in each micro-batch if the function
 * holds an object of that micro-batch, such as a broadcast.
 */
private[lookup] trait KnownByValue {

  /** Equal for functions with the same answers. */
  def value: AnyRef
}
