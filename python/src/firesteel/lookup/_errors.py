"""Errors of lookups before a query runs, one function per error."""

from __future__ import annotations

from collections.abc import Iterable

from firesteel._supported_spark import INSTALLED_SPARK
from firesteel.errors import InvalidConnectorError


def no_session(spark: object) -> ValueError:
    """Name the argument that is not a session."""
    return ValueError(f"spark = {spark!r}: must be the SparkSession, classic or Connect")


def no_arrow_functions(version: str) -> NotImplementedError:
    """Name the version of PySpark that a connector in Python needs."""
    return NotImplementedError(
        f"connectors in Python need PySpark 4.1 or newer, and {version} is installed here: it has "
        "no Arrow functions. Lookups by JDBC, in files and with connectors in Scala do not need it"
    )


def no_rows(left: object) -> ValueError:
    """Name the argument that is not a DataFrame, and the order of the arguments."""
    return ValueError(
        f"left = {left!r}: must be the DataFrame to enrich. The table that is looked up comes "
        "second, as in lookup_join(orders, 'customers', on='id')"
    )


def no_table(table: object) -> ValueError:
    """Name the argument that is neither a table nor a DataFrame."""
    return ValueError(
        f"table = {table!r}: must be the name of a registered connector, a table or a view, "
        "or a DataFrame"
    )


def bad_condition(on: object) -> ValueError:
    """Name the argument that is not a key."""
    return ValueError(
        f"on = {on!r}: must be a column name that both sides have, a list of them, or a condition "
        "such as orders.customer_id == customers.id, or a list of conditions"
    )


def bad_name(name: object) -> ValueError:
    """Name the text that cannot name a lookup table."""
    return ValueError(
        f"{name!r} cannot name a lookup table: use a letter or _, then letters, digits and _, "
        "as in 'customers'"
    )


def unknown_option(name: str, near: Iterable[str]) -> ValueError:
    """Name the unknown option and the most similar options."""
    return ValueError(f"unknown option '{name}'; did you mean {', '.join(near)}?")


def unknown_cache(cache: str) -> ValueError:
    """Name the allowed caches."""
    return ValueError(f"cache = {cache!r}: must be 'NONE' or 'PARTIAL'")


def full_cache() -> ValueError:
    """Name the alternative to a FULL cache of a Python connector."""
    return ValueError(
        "cache = 'FULL': a Python connector reads only by key. Make a table or view of the data "
        "and call lookup_join(left, 'its_name', cache='FULL', ...)"
    )


def unbounded_cache() -> ValueError:
    """Name the three bounds; Flink refuses a cache without one, too."""
    return ValueError(
        "cache = 'PARTIAL' without a bound would grow without limit: set max_rows, "
        "expire_after_write or expire_after_access"
    )


def cache_option_without_cache(names: Iterable[str]) -> ValueError:
    """Name options that would have no effect."""
    return ValueError(f"{', '.join(names)} without a cache: add cache='PARTIAL'")


def no_lookup(name: str, connector: object) -> InvalidConnectorError:
    """Name the members that a connector needs."""
    return InvalidConnectorError(
        f"Lookup connector '{name}' ({_kind(connector)}) needs the attributes schema and keys and "
        "a method lookup(keys); see firesteel.SupportsLookup"
    )


def not_an_instance(name: str, connector: type) -> InvalidConnectorError:
    """Name the class that was passed instead of an instance."""
    return InvalidConnectorError(
        f"Lookup connector '{name}' is the class {connector.__qualname__} itself, whose method "
        f"lookup needs an instance: pass {connector.__name__}(...)"
    )


def bad_schema(name: str, schema: object, reason: str) -> InvalidConnectorError:
    """Name the schema and the reason why it cannot be used."""
    return InvalidConnectorError(
        f"schema {schema!r} of lookup connector '{name}' cannot be used: {reason}"
    )


def bad_keys(
    name: str, attribute: str, keys: object, known: Iterable[str]
) -> InvalidConnectorError:
    """Name the keys and the allowed columns."""
    return InvalidConnectorError(
        f"{attribute} = {keys!r} of lookup connector '{name}': must be a list or tuple of one "
        f"or more different names among {', '.join(known)}"
    )


def bad_key_type(name: str, column: str, kind: str, reason: str) -> InvalidConnectorError:
    """Name a column whose type cannot be a key."""
    return InvalidConnectorError(
        f"Lookup connector '{name}' has key column '{column}' of type {kind}: {reason}"
    )


def bad_partitioner(name: str, partitioner: object) -> InvalidConnectorError:
    """Name the object that is not a partitioner."""
    return InvalidConnectorError(
        f"get_partitioner() of lookup connector '{name}' returned {_kind(partitioner)}: must be "
        "None or an object with a method partition(join_keys, num_partitions) or "
        "partition_batch(join_keys, num_partitions)"
    )


def raised(name: str, step: str, cause: BaseException) -> InvalidConnectorError:
    """Name the method of a connector that raised an exception."""
    return InvalidConnectorError(
        f"Lookup connector '{name}' failed in {step}: {type(cause).__name__}: {cause}"
    )


def not_picklable(name: str, what: object, cause: BaseException) -> InvalidConnectorError:
    """Name the object that cannot be pickled, and the cure."""
    return InvalidConnectorError(
        f"Lookup connector '{name}' ({_kind(what)}) cannot be pickled, so it cannot be sent to "
        f"Spark's Python workers: {type(cause).__name__}: {cause}. Open connections, files and "
        "locks in its method open(task), not in __init__"
    )


def no_arrow(cause: ImportError) -> ImportError:
    """Name the missing packages."""
    return ImportError(
        f"lookup connectors in Python need pyarrow and numpy ({cause}): "
        f"pip install 'pyspark[sql]=={INSTALLED_SPARK}.*', on the workers too"
    )


def unsupported_join(how: str) -> ValueError:
    """Name the kind of join and the allowed kinds."""
    return ValueError(
        f"how = {how!r}: a lookup join is 'inner' or 'left' ('left_outer'), because it never "
        "reads rows of the dimension table that match nothing"
    )


def no_condition() -> ValueError:
    """Name the allowed forms of a key."""
    return ValueError(
        "on = None: a lookup join needs a key: a column name that both sides have, a list of "
        "them, or a condition such as orders.customer_id == customers.id"
    )


def _kind(thing: object) -> str:
    return f"{type(thing).__module__}.{type(thing).__qualname__}"
