SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

SWIFT ?= swift
# One set of flags for all that is not a test, so that it is built once. The linker is told what a program needs less
# of than a library: no symbols for others, one copy of equal functions, and packed relocations where the C library
# reads them (glibc 2.36). Together they save 3 MB of resident memory.
PACKED := $(shell printf '%s\n' 2.36 "$$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" | sort --check=quiet -V && \
  echo -z pack-relative-relocs)
# Its bytes contain no path, and do not depend on earlier builds. That they are always the same takes more: see `deb`.
RELEASE = -c release --static-swift-stdlib -Xswiftc -use-ld=lld \
  $(addprefix -Xswiftc ,-file-prefix-map $(CURDIR)=. -Xfrontend -no-clang-module-breadcrumbs) \
  -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen -Xcc -ffile-prefix-map=$(CURDIR)=. \
  $(addprefix -Xlinker ,--no-export-dynamic --icf=safe $(PACKED)) \
  $(if $(FLEET),--traits Fleet) --scratch-path $(SCRATCH) $(THREADS)
SCRATCH = .build$(if $(FLEET),-fleet)
THREADS =
# And one set for all that is, so that no goal rebuilds what another has built. Fleets need libpq: where it cannot be
# had, their tests are left out.
TESTS = $(shell pkg-config --exists libpq 2>/dev/null && echo --traits Fleet)
THREADKEEPER = $$($(SWIFT) build $(RELEASE) --show-bin-path)/threadkeeper
SWIFT_SOURCES := Sources Tests Benchmarks Stress Package.swift \
  $(if $(shell find examples -name '*.swift' -print -quit 2>/dev/null),examples)

.PHONY: help run status demo demo-fleet test test-long coverage test-brokers test-fleet lint format build bench fuzz \
  stress sanitize soak consumer hermetic interop settings wire docs sbom deb reproducible test-deb image addon \
  test-image install uninstall clean prepare compile

help: ## Show this list
	@echo 'threadkeeper: keeps the Thread credentials of a home. Goals:'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
	  while IFS='|' read -r goal text; do printf '  make %-12s %s\n' "$$goal" "$$text"; done
	@echo "Arguments for the command: make run ARGS='--help'"

# State lies in the project unless a variable says otherwise; `clean` leaves it alone.
run: export THREADKEEPER_STATE_DIRECTORY ?= $(CURDIR)/.threadkeeper
run: prepare compile ## Run it here, with a private broker and its state in .threadkeeper
	@printf 'In a second terminal: make status, or\n  THREADKEEPER_STATE_DIRECTORY=%q %q status\n' \
	  "$$THREADKEEPER_STATE_DIRECTORY" "$(THREADKEEPER)" >&2
	@exec "$(THREADKEEPER)" run $(ARGS)

status: export THREADKEEPER_STATE_DIRECTORY ?= $(CURDIR)/.threadkeeper
status: ## Ask the daemon that `make run` runs how it is
	@exec "$(THREADKEEPER)" status $(ARGS)

demo: prepare compile ## Watch a simulated home on its status page; leaves nothing behind
	@exec "$(THREADKEEPER)" demo $(ARGS)

demo-fleet: FLEET = 1
demo-fleet: prepare compile ## Watch two nodes share homes on PostgreSQL, and one take over from the other
	@.ci/test-tools postgresql+
	@exec examples/fleet/demo "$(THREADKEEPER)" $(ARGS)

# What tests use of Debian, and the rules of axe-core. What cannot be had is skipped by name.
TEST_TOOLS := avahi-daemon+ busybox chromium+ postgresql+ prometheus python3-fastjsonschema radvd shellcheck axe

LINT = $(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)

# The tests come last, so that the last lines are theirs.
test: prepare ## Check the style, run all tests, print where the time went
	@rm -f .build/seconds
	@.ci/test-tools $(TEST_TOOLS)
	@.ci/timed lint $(LINT)
	@.ci/timed build $(SWIFT) build --build-tests $(TESTS)
	@.ci/test $(SWIFT) test --skip-build --disable-xctest $(ARGS)

# Some tests try a sample of all bytes, failing calls and random inputs; here they try each.
test-long: prepare ## Run all tests, and every round of those that try a sample
	@.ci/test-tools $(TEST_TOOLS)
	$(SWIFT) build --build-tests $(TESTS)
	@SOAK_ROUNDS=all FUZZ_STEPS=$${FUZZ_STEPS:-100000} .ci/test $(SWIFT) test --skip-build --disable-xctest $(ARGS)

# A build of its own: programs that count are slower, and the next `make test` would build all of them again.
COUNTED = --scratch-path .build/coverage
coverage: prepare ## Run all tests, and print how many lines of each target they ran
	@.ci/test-tools $(TEST_TOOLS)
	@LLVM_PROFILE_FILE=/dev/null $(SWIFT) build --build-tests --enable-code-coverage $(TESTS) $(COUNTED)
	@.ci/coverage .build/coverage $(SWIFT) test --skip-build --disable-xctest $(COUNTED) $(ARGS)

test-brokers: prepare ## Test with Mosquitto in five ways, and with ejabberd
	@.ci/test-tools ejabberd+
	$(SWIFT) build --build-tests $(TESTS)
	@.ci/test $(SWIFT) test --skip-build --disable-xctest --filter BrokerKindTests

# Faults in their long form: nodes that are killed and stopped, a database that crashes and is promoted.
test-fleet: FLEET = 1
test-fleet: prepare ## Test fleets with PostgreSQL, and check that nothing is lost
	@.ci/test-tools postgresql+
	$(SWIFT) build --build-tests $(TESTS)
	@.ci/test-fleet $(ARGS)

lint: prepare ## Check the style of the sources
	$(LINT)

format: prepare ## Put the sources into style
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_SOURCES)

# With FLEET=1 the one for nodes of a fleet, which needs libpq, in a directory of its own.
build: prepare compile ## Build the program that can be installed; prints where it lies
	@program="$(THREADKEEPER)"; echo "built $$program ($$(du -h "$$program" | cut -f1))"

# At most ten minutes. What cannot be had to compare with is left out by name. Fleets are measured by ARGS='--only fleet'.
bench: export THREADKEEPER_GOAL = bench
bench: FLEET = $(findstring fleet,$(ARGS))
bench: prepare compile ## Measure speed and memory, and write docs/reference/benchmarks.md
	@.ci/test-tools libsqlcipher0 python3-paho-mqtt valgrind $(if $(FLEET),postgresql+)
	$(SWIFT) build $(RELEASE) --product threadkeeper-bench
	@exec "$(THREADKEEPER)-bench" --write docs/reference/benchmarks.md \
	  --swift "$$($(SWIFT) --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p')" $(ARGS)

# Builds of their own, because what a sanitizer watches is compiled differently. Nothing is suppressed: a report is an
# error. What the thread sanitizer cannot see of Swift's mutex, `ContendedMutex.c` of the tests tells it. The keychain
# is optimized, so that its threads get in each other's way often enough.
STRESS := -c release --sanitize=thread --scratch-path .build-tsan --product keychain-stress
sanitize: prepare stress ## Run the tests under two sanitizers, after `stress`
	@.ci/sanitize address $(ARGS)
	@.ci/sanitize thread $(ARGS)

stress: export THREADKEEPER_GOAL = stress
stress: prepare ## Let 8 threads race on the keychain, under a sanitizer
	$(SWIFT) build $(STRESS)
	@"$$($(SWIFT) build $(STRESS) --show-bin-path)/keychain-stress" $(if $(filter stress,$(MAKECMDGOALS)),$(ARGS))

# The tests are those of `make test`, and the daemon is the one that is installed.
soak: prepare compile ## Inject faults for 10 minutes, and check that nothing is lost
	$(SWIFT) build --build-tests $(TESTS)
	@.ci/soak "$(THREADKEEPER)" $(ARGS)

# Builds of their own too: libFuzzer needs its marks on every branch. gold cannot link that, so lld does.
FUZZ := -c release --scratch-path .build-fuzz --product threadkeeper-fuzz \
  -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld
fuzz: export THREADKEEPER_GOAL = fuzz
fuzz: prepare ## Fuzz what reads others' bytes, each for FUZZ_SECONDS=60
	$(SWIFT) build $(FUZZ)
	@.ci/fuzz "$$($(SWIFT) build $(FUZZ) --show-bin-path)/threadkeeper-fuzz" .build-fuzz/work $(ARGS)

consumer: prepare ## Build packages that depend on this one, the examples among them, and run them
	@.ci/example
	@.ci/consumer

hermetic: prepare compile ## Run all tests beside a daemon of the machine, and show that none touched it
	@.ci/test-tools $(TEST_TOOLS)
	$(SWIFT) build --build-tests $(TESTS)
	@.ci/hermetic $(ARGS)

interop: prepare ## Ask a daemon over the local API with a client from PyPI
	$(SWIFT) build --product threadkeeper $(TESTS)
	@.ci/interop "$$($(SWIFT) build --show-bin-path)/threadkeeper"

settings: prepare ## Write the settings file and the page about settings from their table
	$(SWIFT) build --build-tests $(TESTS)
	@MAKE_SETTINGS=1 .ci/test $(SWIFT) test --skip-build --disable-xctest --filter SettingsPagesTests

wire: prepare ## Write the schemas, interfaces and tables of the documents from the messages
	$(SWIFT) build --build-tests $(TESTS)
	@MAKE_GOLDEN=1 .ci/test $(SWIFT) test --skip-build --disable-xctest --filter 'WireFilesTests|LocalAPITests|OpenAPITests'

docs: prepare ## Make the reference of the library products, as web pages in .build/docs
	@.ci/docs $(TESTS)

sbom: prepare compile ## Write what the program is made of, with versions and licences, to .build/sbom.cdx.json
	@.ci/sbom.py "$(THREADKEEPER)" .build/sbom.cdx.json

# Its program has a build of its own, with one thread in each compiler, because threads get addresses of memory by
# chance: see `.ci/one-path`.
deb: SCRATCH = .build-deb$(if $(FLEET),-fleet)
deb: prepare ## Make the Debian package in .build/deb, and check it with lintian
	@.ci/package-tools debhelper dpkg-dev lintian python3
	@.ci/one-path $(MAKE) --no-print-directory compile SCRATCH=$(SCRATCH) THREADS='-Xswiftc -num-threads -Xswiftc 1'
	@.ci/deb $(SCRATCH)/release/threadkeeper

reproducible: prepare ## Make that package twice, from two directories, and compare the two
	@.ci/package-tools debhelper dpkg-dev lintian python3
	@.ci/reproducible

test-deb: deb ## Install, upgrade, remove and purge that package in a new Debian tree
	@.ci/package-tools mmdebstrap systemd systemd-container
	@.ci/test-deb

image: deb ## Make a container image of that package in .build/image
	@.ci/package-tools buildah crun gzip mmdebstrap
	@.ci/image

addon: deb ## Make a Home Assistant add-on of that package in .build/addon
	@.ci/package-tools gzip mmdebstrap
	@.ci/addon

# As root: `sudo make test-image`.
test-image: image addon ## Run both with podman, a broker and a stand-in of Home Assistant
	@.ci/package-tools apparmor buildah crun curl iproute2 jq mosquitto mosquitto-clients openssl podman python3-yaml \
	  shellcheck
	@.ci/test-tools chromium+
	@.ci/test-image

# Neither builds anything, because they may run as root: `make build && sudo make install`.
install uninstall: export PROGRAM ?= $(SCRATCH)/release/threadkeeper
install: ## Install what `make build` has built; DESTDIR, PREFIX=/usr/local
	@.ci/install install

uninstall: ## Remove what `make install` has installed; settings and store stay
	@.ci/install uninstall

clean: ## Remove what was built; the state in .threadkeeper stays
	rm -rf .build .build-asan .build-deb .build-deb-fleet .build-fleet .build-fuzz .build-tsan

test test-long coverage hermetic: LIBPQ = --libpq-if-possible
prepare:
	@.ci/prepare $(if $(FLEET),--libpq,$(LIBPQ))

compile:
	$(SWIFT) build $(RELEASE) --product threadkeeper
