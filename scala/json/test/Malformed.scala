package io.firesteel.json

/** Documents with bytes that are not UTF-8, each character a byte. */
object Malformed {

  private val bytes = Seq(
    "\u0080",
    "\u00bf",
    "\u00c0\u0080",
    "\u00c1\u00bf",
    "\u00c2",
    "\u00c3\u00a9",
    "\u00e0\u0080\u0080",
    "\u00e2\u0082",
    "\u00e2\u0082\u00ac",
    "\u00ed\u00a0\u0080",
    "\u00ef\u00bf\u00bd",
    "\u00f0\u0080\u0080\u0080",
    "\u00f0\u009f\u0098",
    "\u00f0\u009f\u0098\u0080",
    "\u00f4\u008f\u00bf\u00bf",
    "\u00f4\u0090\u0080\u0080",
    "\u00f5\u0080\u0080\u0080",
    "\u00fe",
    "\u00ff"
  )

  val all: Seq[String] = bytes.flatMap { bad =>
    Seq(
      s"""{"a":"$bad"}""",
      s"""{"a":"x${bad}y long enough for words","b":1}""",
      s"""{"x":"$bad","a":1}""",
      s"""{"$bad":1,"a":2}""",
      s"""{"a":{"$bad":1}}""",
      s"""{"a":[$bad]}""",
      s"""$bad{"a":1}""",
      s"""{"a":1}$bad""",
      s"""{"a$bad":1}""",
      s"""{"a":"\\u0041$bad"}""",
      s"""{"a":"$bad"""
    )
  }
}
