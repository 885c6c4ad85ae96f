import Dependencies._

libraryDependencies += h2 % Test
