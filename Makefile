# The words of this project. Each says what it does, and does nothing that is done already.

SHELL := bash
# The minor version of Spark: make test SPARK=4.1. Each has its environment, jar and target folders.
SPARK ?= 4.3
export SPARK
VENV := $(if $(filter 4.3,$(SPARK)),.venv,.venv-$(SPARK))
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' python/src/firesteel/_version.py)

# The Spark of that environment, whatever else this machine has set up.
unexport SPARK_HOME SPARK_CONF_DIR SPARK_REMOTE PYSPARK_PYTHON PYSPARK_DRIVER_PYTHON
unexport PYSPARK_SUBMIT_ARGS PYTHONPATH MASTER
export SUITES PROGRAMS

READY := $(VENV)/ready
SPARKS := 4.0 4.1 4.2 4.3
JAR := python/src/firesteel/jars/firesteel-$(SPARK).jar
JARS := $(SPARKS:%=python/src/firesteel/jars/firesteel-%.jar)
WHEEL := dist/firesteel-$(VERSION)-py3-none-any.whl

# What goes into the jar. Folders too, since a deleted file changes only the folder's date.
ROOMS := $(filter-out scala/bench scala/testkit,$(wildcard scala/*))
JAR_SOURCES := build.sbt $(wildcard scala/*/build.sbt) $(wildcard project/*.scala project/*.sbt project/build.properties) \
  $(shell find $(wildcard $(addsuffix /src*,$(ROOMS)) $(addsuffix /resources,$(ROOMS))))
PACKAGE := python/pyproject.toml python/hatch_build.py python/README.md \
  $(shell find python/src/firesteel -type f -not -name '*.jar' -not -name '*.pyc')
PYTHON_CODE := python tests/python tests/release examples docs $(wildcard build/*.py)
.PHONY: help require setup demo test test-slow test-all test-long test-versions check docs bench wheel release clean

help: ## list these words
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | \
	  while IFS='|' read -r word text; do printf '%-17s%s\n' "$$word" "$$text"; done

require:
	@build/require

setup: require $(JAR) ## .venv with PySpark, the jar built and staged, the package installed
	@echo "==> ready: $(VENV) has firesteel $(VERSION) and its jar"

$(READY): python/pyproject.toml python/src/firesteel/_version.py build/venv | require
	@build/venv
	@touch $@

$(JARS): python/src/firesteel/jars/firesteel-%.jar: \
  $(JAR_SOURCES) python/src/firesteel/_version.py $(READY) | require
	@build/step "firesteel-$*.jar, compiled and packed" env SPARK=$* build/sbt stageJar
	@touch $@

demo: setup ## a stream that Spark refuses, faster queries: make demo [DATA=folder ARGS='--key k --order v']
	@$(VENV)/bin/python examples/demo $(if $(DATA),--data '$(DATA)') $(ARGS)

# SUITES and PROGRAMS choose some of the tests.
test: setup ## the fast tests, Scala's and Python's
	@build/test fast

test-slow: setup ## the slow tests alone, those of tests/slow.txt
	@build/test slow

test-all: setup ## also the slow tests of tests/slow.txt, and more random cases
	@build/test all

test-long: setup ## every test, the long ones and many more random cases: hours
	@build/test long

test-versions: require ## Spark 4.0 to 4.2: all compile, the main suites of one run; with ALL=1 everything
	@build/test-versions

docs: require $(READY) ## target/docs: the manual as a site
	@echo "==> pages, and the manual as a site"
	@$(VENV)/bin/python build/check_pages.py
	@$(VENV)/bin/python -m sphinx -q -W --keep-going -d target/doctrees docs target/docs

check: require $(READY) docs ## format, lint, types, pages
	@echo "==> ruff and mypy"
	@$(VENV)/bin/ruff check --config python/pyproject.toml $(PYTHON_CODE)
	@$(VENV)/bin/ruff format --check --config python/pyproject.toml $(PYTHON_CODE)
	@$(VENV)/bin/mypy --config-file python/pyproject.toml $(PYTHON_CODE)
	@$(VENV)/bin/python build/check_types.py
	@echo "==> scalafmt, scalafix, warnings, REFERENCE.md"
	@build/sbt check

bench: setup ## time rooms against stock Spark: make bench [ROOM=rank], or SUITE=tpcds, streaming, joins, tpch, nexmark, over, windows, neighbours, statements, state, debezium
	@build/bench $(or $(SUITE),$(ROOM)) $(ARGS)

wheel: $(WHEEL) ## dist/: one wheel with a jar for each version of Spark
	@echo "==> $(WHEEL)"

$(WHEEL): $(JARS) $(PACKAGE)
	@rm -f dist/*.whl
	@build/step "building the wheel" \
	  bash -c 'cd python && ../$(VENV)/bin/python -m hatchling build --target wheel --directory ../dist'

release: wheel ## dist/: the wheel, and dist/maven: each version's jar; all of it installed and run
	@build/release $(SPARKS)

clean: ## remove what was built for every version; environments stay
	@rm -rf dist target project/target project/project scala/*/target-* tests/scala/target-* \
	  python/src/firesteel/jars/*.jar
	@echo "==> clean"
