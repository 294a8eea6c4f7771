# Every target makes what it needs, the virtual environment included.
PYTHON ?= python3
# Compilers that run at once; a file that includes all of autograd takes about 1 GB.
JOBS ?= 2

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
OPBIND := $(BIN)/python -m opbind

GENERATED := csrc/generated
DEMO := build/demo
KERNELS := $(sort $(wildcard csrc/kernels/*.cpp csrc/kernels/*.py))
# What people write, as against what is generated.
CPP := $(sort $(shell find csrc/runtime csrc/kernels tests benchmarks \
	-path '*/cases/*' -prune -o \( -name '*.cpp' -o -name '*.h' \) -print))
# What clang-tidy reads; the build's compile_commands.json says how.
TIDY := $(sort $(wildcard csrc/runtime/core/*.cpp csrc/runtime/torch/*.cpp csrc/kernels/*.cpp))
# The same of the null host, by the build of the echo library.
TIDY_NULL := $(sort $(wildcard tests/null_host/*.cpp))
PY := codegen tests benchmarks examples
# Scripts of the runtime's tests.
ECHO := PYTHONPATH=tests/runtime:tests/support:tests/codegen $(BIN)/python tests/runtime

.PHONY: venv demo aten conformance test test-pythons test-limited sanitize coverage leaks exits \
	fuzz fuzz-runtime gen check-gen golden lint bench errors-page build-demo build-echo clean
.DELETE_ON_ERROR:

venv: $(INSTALLED)

$(INSTALLED): pyproject.toml requirements-dev.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt -e .
	touch $@

gen: $(INSTALLED)
	$(OPBIND) gen ops.yaml --out $(GENERATED)
	$(OPBIND) reference --out docs/yaml.md
	$(OPBIND) reference --format schema --out codegen/opbind/ops.schema.json

check-gen: $(INSTALLED)
	$(OPBIND) gen ops.yaml --out $(GENERATED) --check
	$(OPBIND) reference --out docs/yaml.md --check
	$(OPBIND) reference --format schema --out codegen/opbind/ops.schema.json --check

build-demo: $(INSTALLED)
	$(OPBIND) build ops.yaml --out $(GENERATED) --build-dir $(DEMO) --jobs $(JOBS) $(KERNELS)

build-echo: $(INSTALLED)
	$(ECHO)/echo_library.py

demo: build-demo
	PYTHONPATH=$(DEMO)/lib $(BIN)/python examples/demo.py

test: build-demo aten
	$(BIN)/python -m pytest

# The generator's own tests on other Pythons, without torch: what needs it says so.
PYTHONS ?= python3.10 python3.11 python3.12 python3.13
test-pythons:
	for python in $(PYTHONS); do \
		venv=build/venv-$$(basename $$python) && $$python -m venv $$venv && \
		$$venv/bin/python -m pip install --quiet -e . pytest hypothesis jsonschema && \
		$$venv/bin/python -m pytest tests/codegen tests/fuzz || exit 1; \
	done

# Core, the null host and the echo library under AddressSanitizer, LeakSanitizer and UBSan.
sanitize: $(INSTALLED)
	$(ECHO)/echo_variants.py sanitized

# The lines of core that the runtime's tests reach.
coverage: $(INSTALLED)
	$(ECHO)/echo_variants.py coverage

# Core and the null host with Py_LIMITED_API.
test-limited: $(INSTALLED)
	$(ECHO)/echo_variants.py limited

# All of torch's own functions through the generator: `import aten_ops` with $(ATEN) on the path.
# ONLY="--only 'add*'" builds some of them.
ATEN := build/aten
SHARDS ?= 4
ONLY ?=
PACKAGED = $$($(BIN)/python -c "import torchgen; print(torchgen.__path__[0] + '/packaged')")
aten: $(INSTALLED)
	packaged=$(PACKAGED) && $(OPBIND) build $$packaged/ATen/native/native_functions.yaml \
		--deprecated $$packaged/autograd/deprecated.yaml --shards $(SHARDS) $(ONLY) \
		--out $(ATEN)/generated --build-dir $(ATEN)/build --lib $(ATEN) --jobs $(JOBS)

# torch's functions and ours on torch's own samples and on calls made from the schemas: writes
# docs/conformance.md; a quarter of an hour.
FUZZ_CALLS ?= 200000
conformance: aten
	$(BIN)/python tests/conformance/conformance.py --calls $(FUZZ_CALLS) --jobs $(JOBS)

# References, memory and tensors after so many calls of every path, failures included: ten minutes.
CALLS ?= 100000
leaks: build-demo
	$(ECHO)/echo_leaks.py $(CALLS)
	PYTHONPATH=tests/support:$(DEMO)/lib $(BIN)/python tests/support/torch_leaks.py $(CALLS)

# Exits while daemon threads are inside ops, so many of each kind.
RUNS ?= 50
exits: $(INSTALLED)
	PYTHONPATH=tests/support $(BIN)/python tests/support/daemon_exits.py $(RUNS)

# 50,000 random schemas against torch's own reader, and 50,000 broken YAML files: ten minutes.
fuzz: $(INSTALLED)
	PYTHONPATH=tests/codegen $(BIN)/python tests/fuzz/run.py

# Core under libFuzzer: signatures and calls, 30 minutes each at once. Needs clang and llvm.
MINUTES ?= 30
fuzz-runtime: $(INSTALLED)
	PYTHONPATH=tests/runtime:tests/support:tests/codegen $(BIN)/python tests/fuzz/native/run.py \
		--minutes $(MINUTES)

golden: $(INSTALLED)
	$(BIN)/python -m pytest tests/codegen/test_golden.py --update-golden

bench: $(INSTALLED)
	$(BIN)/python benchmarks/build.py --jobs $(JOBS)
	PYTHONPATH=build/bench/lib $(BIN)/python benchmarks/calls.py --out build/bench/calls.json
	$(BIN)/python benchmarks/generation.py --out build/bench/generation.json

# What four bindings say of the same wrong calls.
errors-page: build-demo
	PYTHONPATH=$(DEMO)/lib $(BIN)/python benchmarks/errors.py --jobs $(JOBS) --out docs/errors.md

lint: build-demo build-echo
	$(BIN)/ruff check $(PY)
	$(BIN)/ruff format --check $(PY)
	$(BIN)/mypy $(PY)
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	printf '%s\n' $(TIDY) | xargs -P $(JOBS) -n 1 $(BIN)/clang-tidy -p $(DEMO) --quiet
	printf '%s\n' $(TIDY_NULL) | xargs -P $(JOBS) -n 1 $(BIN)/clang-tidy -p build/tests/echo --quiet
	$(MAKE) check-gen

clean:
	rm -rf build dist
