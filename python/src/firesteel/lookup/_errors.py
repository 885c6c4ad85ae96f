"""What goes wrong with a lookup before a query runs: one function per error."""

from __future__ import annotations

from collections.abc import Iterable

from firesteel.errors import InvalidConnectorError


def no_session(spark: object) -> ValueError:
    """Name what is not a session."""
    return ValueError(f"spark = {spark!r}: must be the SparkSession, classic or Connect")


def no_rows(left: object) -> ValueError:
    """Name what is not a DataFrame, and the order of the arguments."""
    return ValueError(
        f"left = {left!r}: must be the DataFrame to enrich. The table that is looked up comes "
        "second, as in lookup_join(orders, 'customers', on='id')"
    )


def no_table(table: object) -> ValueError:
    """Name what is neither a table nor a DataFrame."""
    return ValueError(
        f"table = {table!r}: must be the name of a registered connector, a table or a view, "
        "or a DataFrame"
    )


def bad_condition(on: object) -> ValueError:
    """Name what a join cannot be looked up by."""
    return ValueError(
        f"on = {on!r}: must be a column name that both sides have, a list of them, or a condition "
        "such as orders.customer_id == customers.id"
    )


def bad_name(name: object) -> ValueError:
    """Name what is not a name for a lookup table."""
    return ValueError(
        f"{name!r} cannot name a lookup table: use a letter or _, then letters, digits and _, "
        "as in 'customers'"
    )


def unknown_option(name: str, near: Iterable[str]) -> ValueError:
    """Name an option that does not exist, and those that may have been meant."""
    return ValueError(f"unknown option '{name}'; did you mean {', '.join(near)}?")


def unknown_cache(cache: str) -> ValueError:
    """Name the caches that there are."""
    return ValueError(f"cache = {cache!r}: must be 'NONE' or 'PARTIAL'")


def full_cache() -> ValueError:
    """Say what else to do, since a Python connector cannot be read whole."""
    return ValueError(
        "cache = 'FULL': a Python connector can only be asked by key. Make a table or view of the "
        "data, and call lookup_join(left, 'its_name', cache='FULL', ...) on that"
    )


def unbounded_cache() -> ValueError:
    """Name the three settings of which one is needed (Flink refuses this, too)."""
    return ValueError(
        "cache = 'PARTIAL' without a bound would grow for ever: set max_rows, expire_after_write "
        "or expire_after_access"
    )


def cache_option_without_cache(names: Iterable[str]) -> ValueError:
    """Name settings that would have no effect."""
    return ValueError(f"{', '.join(names)} without a cache: add cache='PARTIAL'")


def no_lookup(name: str, connector: object) -> InvalidConnectorError:
    """Name a member that a connector lacks."""
    return InvalidConnectorError(
        f"Lookup connector '{name}' ({_kind(connector)}) needs the attributes schema and keys and "
        "a method lookup(keys); see firesteel.SupportsLookup"
    )


def not_an_instance(name: str, connector: type) -> InvalidConnectorError:
    """Name a class whose methods want an instance."""
    return InvalidConnectorError(
        f"Lookup connector '{name}' is the class {connector.__qualname__} itself, whose method "
        f"lookup needs an instance: pass {connector.__name__}(...)"
    )


def bad_schema(name: str, schema: object, reason: str) -> InvalidConnectorError:
    """Say why a schema cannot be used."""
    return InvalidConnectorError(
        f"schema {schema!r} of lookup connector '{name}' cannot be used: {reason}"
    )


def bad_keys(
    name: str, attribute: str, keys: object, known: Iterable[str]
) -> InvalidConnectorError:
    """Name the keys and what they must be among."""
    return InvalidConnectorError(
        f"{attribute} = {keys!r} of lookup connector '{name}': must be a sequence of one or more "
        f"different names among {', '.join(known)}"
    )


def bad_key_type(name: str, column: str, kind: str, reason: str) -> InvalidConnectorError:
    """Name a column whose type cannot be looked up by."""
    return InvalidConnectorError(
        f"Lookup connector '{name}' cannot be asked by column '{column}' of type {kind}: {reason}"
    )


def bad_partitioner(name: str, partitioner: object) -> InvalidConnectorError:
    """Name what is not a partitioner."""
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
    """Name what cannot be sent to the workers, and what to do about it."""
    return InvalidConnectorError(
        f"Lookup connector '{name}' ({_kind(what)}) cannot be pickled, so it cannot be sent to "
        f"Spark's Python workers: {type(cause).__name__}: {cause}. Open connections, files and "
        "locks in its method open(task), not in __init__"
    )


def no_arrow(cause: ImportError) -> ImportError:
    """Name the packages that Spark's Arrow functions need."""
    return ImportError(
        f"lookup connectors in Python need pyarrow and numpy ({cause}): "
        "pip install 'firesteel[lookup]', on the workers too"
    )


def unsupported_join(how: str) -> ValueError:
    """Name the kind of join and those that there are."""
    return ValueError(
        f"how = {how!r}: a lookup join is 'inner' or 'left' ('left_outer'), since rows of the "
        "dimension that match nothing are never read"
    )


def no_condition() -> ValueError:
    """Say what a join is to be looked up by."""
    return ValueError(
        "on = None: a lookup join needs a key: a column name that both sides have, a list of "
        "them, or a condition such as orders.customer_id == customers.id"
    )


def _kind(thing: object) -> str:
    return f"{type(thing).__module__}.{type(thing).__qualname__}"
