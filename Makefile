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
# Of the JVMs that tests start most are gone before the second compiler has earned back what it costs.
TEST_JVM := -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
PYTEST := JDK_JAVA_OPTIONS='$(TEST_JVM)' $(VENV)/bin/python -m pytest -c python/pyproject.toml \
  --rootdir . --numprocesses 2 --dist loadfile --junitxml=target/test-python.xml

.PHONY: help require setup demo test test-all test-long test-versions check docs bench wheel release clean

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

test-all: export FIRESTEEL_TEST_ALL := 1
test-all: PYTEST += -m 'not long'
test-all: test ## the tests that CI runs: with the slow ones of tests/slow.txt

test-long: export FIRESTEEL_TEST_LONG := 1
test-long: PYTEST += -m 'long or not long'
test-long: test ## every test, the long ones and many more random cases: hours

# Both halves always run. What failed in Scala's is said again at the end, where one looks first.
# SUITES and PROGRAMS choose some of them.
test: setup ## the fast tests, Scala's and Python's
	@echo "==> Scala tests, Spark $(SPARK)"; mkdir -p target; set -o pipefail; \
	build/sbt "Test/compile; $(if $(SUITES),testOnly $(SUITES),test)" 2>&1 | tee target/test-scala.log; \
	scala=$$?; \
	echo "==> Python tests, Spark $(SPARK)"; $(PYTEST) $(PROGRAMS); python=$$?; \
	if [ $$scala -ne 0 ]; then \
	  grep -A 4 -E '\*\*\* (FAILED|ABORTED)|^\[error\]' target/test-scala.log | tail -n 40 >&2; \
	  echo "==> Scala tests FAILED, the last of target/test-scala.log above" >&2; exit $$scala; \
	fi; \
	exit $$python

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

bench: setup ## time rooms against stock Spark: make bench [ROOM=rank], or SUITE=tpcds, streaming, joins, tpch
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
