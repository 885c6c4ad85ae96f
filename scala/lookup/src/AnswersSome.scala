package io.firesteel.lookup

/**
 * A function that answers only some questions at a time. Others would wait, and the time that they
 * wait counts towards their timeout.
 */
private[lookup] trait AnswersSome {

  /** Most questions of a task under way. */
  def mostQuestions: Int
}
