package io.firesteel.lookup.examples;

import io.firesteel.lookup.testing.ConnectorCheck;
import java.nio.file.Path;
import org.apache.spark.sql.RowFactory;

/** A test of the connector in Java, by the kit that comes with firesteel. */
public final class CheckJavaCountries {

  private CheckJavaCountries() {}

  public static void check(Path folder) {
    ConnectorCheck.of(new JavaCountries(folder.toString()))
        .rows(
            RowFactory.create("ch", "Switzerland", "Europe"),
            RowFactory.create("cl", "Chile", "America"))
        .missing(RowFactory.create("xx"))
        .check();
  }
}
