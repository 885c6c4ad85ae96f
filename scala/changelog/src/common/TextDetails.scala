package io.firesteel.changelog.common

/**
 * How the text of an expression in a checkpoint's record marks the details that the expression has
 * beside its children: their digest in braces.
 */
private[changelog] object TextDetails {

  private val mark = """\{[0-9a-f]{16}}""".r

  def marked(text: String, digest: String): String = s"$text{$digest}"

  /** The text of the children alone. */
  def without(text: String): String = mark.replaceAllIn(text, "")
}
