# The short names for everything; the work is done by CMake (CMakePresets.json) and the scripts in tools/.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build install demo test test-long test-release test-asan test-tsan bench format compile-commands tidy clean
# The rules here share build folders; Ninja is what runs in parallel.
.NOTPARALLEL:

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
example := examples/two-mass/scenario.yaml

# The program alone needs no test packages. As soon as they are there, the same build folder holds the tests, too, and
# all objects are used again.
configure = tests=OFF; if tools/setup --check test >/dev/null; then tests=ON; fi; \
	cmake --preset release -DMDPCOSIM_TESTS=$$tests -DMDPCOSIM_BENCHMARKS=$$tests >/dev/null
build_in = cmake --build $(1) --parallel $(JOBS) --target $(2)
# Some tests only wait for others.
run_tests = ctest --preset $(1) --parallel $$(($(JOBS) + 1)) --output-junit $(CURDIR)/build/test-counts/$(1).xml
# The thread sanitizer cannot start where the kernel scatters addresses widely.
fixed_addresses = $(shell setarch -R true 2>/dev/null && echo setarch -R)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

build: ## install what is missing and leave the program in build/mdpcosim
	@tools/setup build web
	@$(configure)
	@$(call build_in,build,mdpcosim mdpcosim_library plugins programs subsystem_library_static subsystem_octave example_fmus)

install: build ## the same, and installs program, libraries and headers under PREFIX (/usr/local)
	@cmake --install build --prefix "$(PREFIX)"

demo: build ## build, run an example and say where to look
	build/mdpcosim run $(example) --out demo.out --report
	@echo
	@echo "The run's results are in demo.out/:"
	@echo "  results.csv    one row per recorded time, one column per variable"
	@echo "  summary.json   method, step, costs and end values"
	@echo "The scenario is $(example); 'build/mdpcosim check $(example)' explains it."
	@echo "Everything in pictures, for your browser: $(CURDIR)/demo.out/report.html"

# Where Debian would start a server with the package, the test of ssh is skipped instead, unless the package is there.
ssh = $(if $(wildcard /run/systemd/system),,ssh)

test: test-release test-asan test-tsan ## every test that fits a CI run, the sanitizers included

test-release: ## build everything with warnings as errors and run the tests that are not long
	@tools/setup build web test browser octave mpi multibody $(ssh) format tidy
	@$(configure)
	@tools/timed 'release build' $(call build_in,build,all)
	@tools/timed 'release tests' $(call run_tests,release)

test-asan: ## the unit tests and contract suites under the address and undefined-behaviour sanitizers
	@tools/setup build web test
	@cmake --preset asan >/dev/null
	@tools/timed 'address sanitizer build' $(call build_in,build-asan,sanitize_tests)
	@tools/timed 'address sanitizer tests' $(call run_tests,asan)

test-tsan: ## the tests of everything that runs threads under the thread sanitizer
	@tools/setup build web test
	@cmake --preset tsan >/dev/null
	@tools/timed 'thread sanitizer build' $(fixed_addresses) $(call build_in,build-tsan,thread_tests)
	@tools/timed 'thread sanitizer tests' $(fixed_addresses) $(call run_tests,tsan)

test-long: test ## the same, then the tests that need hours rather than minutes
	@$(call build_in,build,long_tests benchmarks)
	@$(call run_tests,long)
	@$(call build_in,build-asan,unit_tests fuzz_tests)
	@$(call run_tests,unit)
	@$(call run_tests,fuzz)

bench: ## build and run every benchmark, five times each: the figures of docs/performance.md
	@tools/setup build web test mpi multibody
	@$(configure)
	@$(call build_in,build,mdpcosim example_fmus benchmarks)
	@bench/figures.py build

format: ## lay out all C++ sources
	@tools/setup format
	@tools/format

compile-commands: ## compile_commands.json for editors: every source file with its flags
	@tools/setup build web test
	@cmake --preset sources >/dev/null
	@ln -sf build/sources/compile_commands.json compile_commands.json

tidy: ## clang-tidy over src/ and models/
	@tools/setup build web tidy
	@tools/tidy src models

clean: ## remove everything that was built
	rm -rf build build-debug build-asan build-tsan demo.out
