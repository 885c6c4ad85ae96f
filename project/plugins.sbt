addSbtPlugin("org.scalameta" % "sbt-scalafmt" % "2.5.4") // one format, checked by `make check`
addSbtPlugin("ch.epfl.scala" % "sbt-scalafix" % "0.14.3") // lint: forbidden and redundant syntax
addSbtPlugin("com.eed3si9n" % "sbt-assembly" % "2.3.1") // one jar, bundled libraries relocated
