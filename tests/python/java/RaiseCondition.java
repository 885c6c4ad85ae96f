import io.firesteel.core.errors.FiresteelAnalysisException;
import io.firesteel.core.errors.FiresteelErrors;
import io.firesteel.core.errors.FiresteelException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.Option;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.immutable.Map;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * An extension with one table function: {@code raise_condition('ANALYSIS', 'FIRESTEEL_...')} raises
 * the error of a condition, with "the x" for each parameter x; 'EXECUTION' as while a query runs.
 */
public final class RaiseCondition extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {

  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    String name = "raise_condition";
    extensions.injectTableFunction(
        new Tuple3<>(new FunctionIdentifier(name), new ExpressionInfo("", name), new Raise()));
    return BoxedUnit.UNIT;
  }

  private static final class Raise extends AbstractFunction1<Seq<Expression>, LogicalPlan> {
    @Override
    public LogicalPlan apply(Seq<Expression> arguments) {
      String condition = text(arguments.apply(1));
      if (text(arguments.apply(0)).equals("ANALYSIS")) {
        return raise(new FiresteelAnalysisException(condition, parameters(condition)));
      }
      return raise(new FiresteelException(condition, parameters(condition), Option.empty()));
    }
  }

  private static String text(Expression argument) {
    return argument.eval(null).toString();
  }

  @SuppressWarnings("unchecked") // Scala's `+` gives Java a map of unknown types
  private static Map<String, String> parameters(String condition) {
    Map<String, String> parameters = Map$.MODULE$.<String, String>empty();
    Matcher names = Pattern.compile("<(\\w+)>").matcher(FiresteelErrors.template(condition));
    while (names.find()) {
      String name = names.group(1);
      parameters = (Map<String, String>) parameters.$plus(new Tuple2<>(name, "the " + name));
    }
    return parameters;
  }

  /** Throws what Java would have declared. */
  @SuppressWarnings("unchecked")
  private static <E extends Throwable> LogicalPlan raise(Throwable error) throws E {
    throw (E) error;
  }
}
