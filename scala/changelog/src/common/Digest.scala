package io.firesteel.changelog.common

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

/** Short digests of texts, for names in checkpoints. */
private[changelog] object Digest {

  /** 16 hexadecimal digits of SHA-256. */
  def of(text: String): String = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8))
    .take(8).map(byte => f"$byte%02x").mkString
}
