package io.firesteel.lookup.examples;

import io.firesteel.lookup.AsyncLookupFunction;
import io.firesteel.lookup.InputDataPartitioner;
import io.firesteel.lookup.LookupContext;
import io.firesteel.lookup.LookupFunction;
import io.firesteel.lookup.SupportsLookup;
import io.firesteel.lookup.SupportsLookupCustomShuffle;
import io.firesteel.lookup.TaskInfo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Countries by code, in a folder with a file for each first letter: {@code c.csv} has lines such as
 * {@code ch,Switzerland,Europe}. It answers asynchronously.
 */
public final class JavaCountries implements SupportsLookup, SupportsLookupCustomShuffle {

  private static final List<String> COLUMNS = List.of("code", "country", "continent");

  private final String folder;

  JavaCountries(String folder) {
    this.folder = folder;
  }

  @Override
  public String name() {
    return "countries";
  }

  /** Only Spark 4.0 asks for it; later versions take the columns. */
  @Override
  public StructType schema() {
    return new StructType(
        COLUMNS.stream()
            .map(column -> DataTypes.createStructField(column, DataTypes.StringType, true))
            .toArray(StructField[]::new));
  }

  @Override
  public Column[] columns() {
    return COLUMNS.stream()
        .map(column -> Column.create(column, DataTypes.StringType))
        .toArray(Column[]::new);
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of();
  }

  @Override
  public String[] lookupKeys(String[] candidates) {
    return Arrays.stream(candidates).filter("code"::equals).toArray(String[]::new);
  }

  /** The code names the file. Without it, Spark distributes rows by the hash of the key. */
  @Override
  public String[] partitionKeys() {
    return new String[] {"code"};
  }

  @Override
  public Optional<InputDataPartitioner> getPartitioner() {
    return Optional.of(new ByFirstLetter());
  }

  @Override
  public LookupFunction newLookup(LookupContext context) {
    return new Lookup(folder, context);
  }

  /** All codes of one file go to one task. */
  static final class ByFirstLetter implements InputDataPartitioner {

    @Override
    public int partition(InternalRow joinKeys, int numPartitions) {
      return of(joinKeys.getUTF8String(0).toString(), numPartitions);
    }

    static int of(String code, int numPartitions) {
      return code.isEmpty() ? 0 : code.charAt(0) % numPartitions;
    }
  }

  /** Reads a file when one of its keys is asked for the first time. */
  static final class Lookup implements AsyncLookupFunction {

    private final String folder;
    private final String[] wanted;
    private final boolean customShuffle;
    private transient TaskInfo task;
    private transient ExecutorService threads;
    private transient Map<String, Map<String, InternalRow>> files;

    Lookup(String folder, LookupContext context) {
      this.folder = folder;
      this.wanted = context.columns().fieldNames();
      this.customShuffle = context.customShuffle();
    }

    @Override
    public void open(TaskInfo task) {
      this.task = task;
      this.files = new HashMap<>();
      this.threads = Executors.newSingleThreadExecutor();
    }

    @Override
    public CompletableFuture<List<InternalRow>> lookupAsync(List<InternalRow> keys) {
      return CompletableFuture.supplyAsync(() -> rowsOf(keys), threads);
    }

    @Override
    public void close() {
      if (threads != null) {
        threads.shutdownNow();
      }
    }

    private List<InternalRow> rowsOf(List<InternalRow> keys) {
      List<InternalRow> rows = new ArrayList<>();
      for (InternalRow key : keys) {
        String code = key.getUTF8String(0).toString();
        if (customShuffle && ByFirstLetter.of(code, task.count()) != task.index()) {
          throw new IllegalStateException(code + " is not of " + task.name());
        }
        InternalRow row = code.isEmpty() ? null : fileOf(code).get(code);
        if (row != null) {
          rows.add(row);
        }
      }
      return rows;
    }

    private Map<String, InternalRow> fileOf(String code) {
      return files.computeIfAbsent(code.substring(0, 1), this::read);
    }

    private Map<String, InternalRow> read(String letter) {
      Path file = Path.of(folder, letter + ".csv");
      Map<String, InternalRow> rows = new HashMap<>();
      try {
        for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
          String[] fields = line.split(",");
          Object[] row =
              Arrays.stream(wanted)
                  .map(column -> UTF8String.fromString(fields[COLUMNS.indexOf(column)]))
                  .toArray();
          rows.put(fields[0], new GenericInternalRow(row));
        }
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
      return rows;
    }
  }

  /** {@code spark.sql.catalog.x} is this class, {@code spark.sql.catalog.x.folder} its data. */
  public static final class Catalog implements TableCatalog {

    private String name;
    private String folder;

    @Override
    public void initialize(String name, CaseInsensitiveStringMap options) {
      this.name = name;
      this.folder = options.get("folder");
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public Table loadTable(Identifier ident) throws NoSuchTableException {
      if (!ident.name().equals("countries")) {
        throw new NoSuchTableException(ident);
      }
      return new JavaCountries(folder);
    }

    @Override
    public Identifier[] listTables(String[] namespace) {
      return new Identifier[] {Identifier.of(namespace, "countries")};
    }

    @Override
    public Table alterTable(Identifier ident, TableChange... changes) {
      throw new UnsupportedOperationException(name + " is read only");
    }

    @Override
    public boolean dropTable(Identifier ident) {
      throw new UnsupportedOperationException(name + " is read only");
    }

    @Override
    public void renameTable(Identifier from, Identifier to) {
      throw new UnsupportedOperationException(name + " is read only");
    }
  }
}
