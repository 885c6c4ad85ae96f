import Dependencies._

libraryDependencies ++= Seq(hikari, h2 % Test, sqlite % Test, postgresql % Test)
