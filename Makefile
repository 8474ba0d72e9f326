# `make run` serves on embedded defaults; `make test` proves the workspace. Both work from a fresh clone.

CARGO ?= cargo

# `make build PROFILE=dist` optimises across crates, which takes four times as long.
PROFILE ?= release
BINARY = $(or $(CARGO_TARGET_DIR),target)/$(PROFILE)/oarlock

LAB = $(dir $(BINARY))oarlock-lab

PROVIDER = $(dir $(BINARY))oarlock.so

PKCS11 = $(dir $(BINARY))oarlock-pkcs11.so

# The directory of the wheel of Python, and the environment of the program that packs it.
WHEELS = $(or $(CARGO_TARGET_DIR),target)/wheels
MATURIN = $(or $(CARGO_TARGET_DIR),target)/python/build
PYTHON ?= python3

# The book of the documents, and the program that makes it.
BOOK = $(or $(CARGO_TARGET_DIR),target)/book
MDBOOK = $(or $(CARGO_TARGET_DIR),target)/mdbook
SOURCES = https://github.com/oarlock/oarlock/blob/main

# The directories of `make install`. Packages set DESTDIR, which precedes all of them.
PREFIX ?= /usr/local
BINDIR = $(DESTDIR)$(PREFIX)/bin
SHAREDIR = $(DESTDIR)$(PREFIX)/share
UNITDIR = $(DESTDIR)$(PREFIX)/lib/systemd/system
SYSUSERSDIR = $(DESTDIR)$(PREFIX)/lib/sysusers.d
EXAMPLES = $(SHAREDIR)/doc/oarlock/examples

# The files of `make install` that `make deb` packs. crates/program/cli/Cargo.toml names the directory.
DEB_TREE = $(CURDIR)/target/deb
# The package: a file or a directory for it. DEB_FLAGS are options of cargo-deb.
DEB ?= $(CURDIR)/target/debian/

# The files of a release, which `make dist` makes.
VERSION = $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml | head -1)
TARGET = $(shell rustc -vV | sed -n 's/^host: //p')
DIST = $(CURDIR)/target/distribution
DIST_NAME = oarlock-$(VERSION)-$(TARGET)

# The runs of `make test`, and the rest of `make test-all`. Each may be made alone too: .ci/tests describes them.
RUNS = unit rules
MORE_RUNS = slow engines scalar-alone narrow-leaves examples kernel-test doctest arm

.PHONY: help run install uninstall deb dist build built announce-build lab provider pkcs11 wheel book test test-all test-rest $(RUNS) $(MORE_RUNS) setup setup-rest setup-build lint deny ci long

help:
	@echo 'make run        build, then start a server with sample keys, which prints how to call it'
	@echo 'make build      build the program, $(BINARY)'
	@echo 'make install    put the program that is built, manual pages, completions, systemd units and examples under PREFIX=$(PREFIX)'
	@echo 'make uninstall  remove what make install puts there'
	@echo 'make deb        build, then make a package for Debian and Ubuntu in target/debian (installs cargo-deb)'
	@echo 'make dist       build with LTO, then make the files of a release in target/distribution: archive, package, SBOM, checksums'
	@echo 'make lab        build the laboratory, target/release/oarlock-lab: ladder, latency, bench and other experiments;'
	@echo '                and OpenSSL 4.0 in target, a peer for oarlock speed --libcrypto'
	@echo 'make provider   build the OpenSSL provider, target/release/oarlock.so: docs/openssl.md describes its use'
	@echo 'make pkcs11     build the PKCS#11 module, target/release/oarlock-pkcs11.so: docs/pkcs11.md describes its use'
	@echo 'make wheel      build the wheel of the Python module in target/wheels: docs/python.md describes its use'
	@echo 'make book       make a book of the documents, with search, in target/book/html (installs mdbook)'
	@echo 'make test       set up, then every test on the best engine of this machine, and the rules of the workspace'
	@echo 'make test-all   the same, then every engine and leaf, slow tests and the examples of the documentation'
	@echo 'make lint       formatting, clippy, documentation, dependencies'
	@echo 'make ci         everything that a change must pass (.ci/run)'
	@echo 'make long       slow tests, Miri, Valgrind and fuzzing, which take too long for every change (.ci/long)'

run: build
	$(BINARY) serve

build: announce-build setup-build
	$(CARGO) build --profile $(PROFILE) --package oarlock-cli

# Cargo is silent for a while at first, so the reader must know what happens and how long it takes.
announce-build:
	@test -x $(BINARY) || echo 'Building oarlock: this takes 6 to 12 minutes on two cores, and only the first time.'

# Installation is root's work, and building is not: build scripts of other projects would run as root.
built:
	@test -x $(BINARY) || { echo 'make: $(BINARY) is not there: run "make build" first, not as root' >&2; exit 1; }

# The units name the installed program. Files in /etc belong to the operator, so the examples go to another directory.
install: built
	install -d $(BINDIR) $(SHAREDIR)/man/man1 $(UNITDIR) $(SYSUSERSDIR) $(EXAMPLES)
	install -d $(SHAREDIR)/bash-completion/completions $(SHAREDIR)/zsh/site-functions $(SHAREDIR)/fish/vendor_completions.d
	install -m 755 $(BINARY) $(BINDIR)/oarlock
	$(BINARY) man $(SHAREDIR)/man/man1
	$(BINARY) completions bash >$(SHAREDIR)/bash-completion/completions/oarlock
	$(BINARY) completions zsh >$(SHAREDIR)/zsh/site-functions/_oarlock
	$(BINARY) completions fish >$(SHAREDIR)/fish/vendor_completions.d/oarlock.fish
	for unit in oarlock oarlock-milter oarlock-proxy; do \
	  sed 's|/usr/bin/oarlock|$(PREFIX)/bin/oarlock|' packaging/$$unit.service >$(UNITDIR)/$$unit.service && \
	  install -m 644 packaging/$$unit.sysusers $(SYSUSERSDIR)/$$unit.conf || exit 1; \
	done
	install -m 644 packaging/oarlock.socket packaging/oarlock-milter.socket packaging/oarlock-proxy.socket $(UNITDIR)
	install -m 644 docs/oarlock.toml docs/milter.toml docs/milter.sql docs/proxy.toml $(EXAMPLES)
	chmod 644 $(UNITDIR)/oarlock*.service $(SHAREDIR)/man/man1/oarlock*.1 $(SHAREDIR)/bash-completion/completions/oarlock \
	  $(SHAREDIR)/zsh/site-functions/_oarlock $(SHAREDIR)/fish/vendor_completions.d/oarlock.fish

uninstall:
	rm -f $(BINDIR)/oarlock $(SHAREDIR)/man/man1/oarlock.1 $(SHAREDIR)/man/man1/oarlock-*.1 \
	  $(SHAREDIR)/bash-completion/completions/oarlock $(SHAREDIR)/zsh/site-functions/_oarlock \
	  $(SHAREDIR)/fish/vendor_completions.d/oarlock.fish $(UNITDIR)/oarlock.service $(UNITDIR)/oarlock-milter.service \
	  $(UNITDIR)/oarlock-proxy.service $(UNITDIR)/oarlock.socket $(UNITDIR)/oarlock-milter.socket $(UNITDIR)/oarlock-proxy.socket \
	  $(SYSUSERSDIR)/oarlock.conf $(SYSUSERSDIR)/oarlock-milter.conf $(SYSUSERSDIR)/oarlock-proxy.conf
	rm -rf $(SHAREDIR)/doc/oarlock

# Packs the files of `make install` and the settings of the services. The profile has stripped the program.
deb: build
	@$(CARGO) deb --version >/dev/null 2>&1 || $(CARGO) install --locked --no-default-features cargo-deb
	rm -rf $(DEB_TREE)
	$(MAKE) --old-file=build install PREFIX=/usr DESTDIR=$(DEB_TREE)
	mkdir -p $(dir $(DEB))
	$(CARGO) deb --quiet --manifest-path crates/program/cli/Cargo.toml --no-build --no-strip --output $(DEB) $(DEB_FLAGS)

# The archive has no times and owners of this machine, so the same program makes the same archive. It unpacks below a directory of its
# own: usr/bin, usr/share and usr/lib.
dist:
	$(MAKE) build PROFILE=dist
	rm -rf $(DIST)
	$(MAKE) --old-file=build install PROFILE=dist PREFIX=/usr DESTDIR=$(DIST)/$(DIST_NAME)
	cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE $(DIST)/$(DIST_NAME)
	tar -C $(DIST) --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$$(git log -1 --format=%ct 2>/dev/null || echo 0) \
	  -czf $(DIST)/$(DIST_NAME).tar.gz $(DIST_NAME)
	rm -rf $(DIST)/$(DIST_NAME)
	$(MAKE) --old-file=build deb PROFILE=dist DEB=$(DIST)/
	$(CARGO) run --quiet --package xtask -- sbom --target $(TARGET) >$(DIST)/$(DIST_NAME).cdx.json
	cd $(DIST) && sha256sum -- * >SHA256SUMS
	@ls -l $(DIST)

# The program is named too, here and below. Then shared crates have the features that `make build` gave them, and none is
# built again. OpenSSL 4.0 is a peer for measurements, and no program is linked with it.
lab: setup-build
	$(CARGO) build --release --package oarlock-cli --package oarlock-lab
	@echo 'built $(LAB): oarlock hands it the commands of the laboratory'
	$(CARGO) run --quiet --package xtask -- openssl

provider: setup-build
	$(CARGO) build --release --package oarlock-cli --package oarlock-openssl
	cp $(dir $(BINARY))liboarlock_openssl.so $(PROVIDER)
	@echo 'built $(PROVIDER)'

pkcs11: setup-build
	$(CARGO) build --release --package oarlock-cli --package oarlock-pkcs11
	cp $(dir $(BINARY))liboarlock_pkcs11.so $(PKCS11)
	@echo 'built $(PKCS11)'

# Python loads the library from a wheel, which maturin packs. The version is fixed, so that a wheel can be built again.
wheel: setup-build
	test -x $(MATURIN)/bin/maturin || { $(PYTHON) -m venv $(MATURIN) && $(MATURIN)/bin/pip install --quiet maturin==1.16.0; }
	CARGO=$(CURDIR)/plugins/python/cargo $(MATURIN)/bin/maturin build --release --locked --compatibility linux \
	  --out $(WHEELS) --manifest-path plugins/python/Cargo.toml
	@echo "built $$(ls -t $(WHEELS)/oarlock-*.whl | head -1)"

# Pages link to files outside of docs, which mdbook does not read. So it gets a copy in which they have the same positions,
# and in which links to sources lead to the repository.
book:
	@test -x $(MDBOOK)/bin/mdbook || $(CARGO) install --locked --version 0.5.4 --no-default-features --features search \
	  --root $(MDBOOK) mdbook || { echo 'make: the book needs mdbook 0.5, and cargo could not install it: is crates.io reachable?' >&2; exit 1; }
	rm -rf $(BOOK)
	mkdir -p $(BOOK)/src
	cp -R docs/book.toml $(BOOK)
	cp -R *.md LICENSE-* docs $(BOOK)/src
	sed -e 's|](|](docs/|' -e 's|](docs/\.\./|](|' docs/SUMMARY.md >$(BOOK)/src/SUMMARY.md
	find $(BOOK)/src -name '*.md' -exec sed -Ei -e 's,\]\((\.\./)*((crates/|plugins/|packaging|examples/)[^)]*)\),]($(SOURCES)/\2),g' \
	  -e 's,README\.md#,index.html#,g' -e 's,\]\(docs/SUMMARY\.md\),](toc.html),' {} +
	$(MDBOOK)/bin/mdbook build $(BOOK)
	@echo 'made $(BOOK)/html/index.html'

test: setup
	@.ci/tests $(RUNS)

test-all: test test-rest

test-rest: setup-rest
	@.ci/tests $(MORE_RUNS)

$(RUNS): setup
	@.ci/tests $@

$(MORE_RUNS): setup-rest
	@.ci/tests $@

# Checks the tools that a build needs.
setup-build:
	@.ci/setup build

# Checks the tools of a build, and installs the programs that tests compare with.
setup:
	@.ci/setup test

setup-rest:
	@.ci/setup test-rest

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps
	$(MAKE) deny

deny:
	$(CARGO) deny --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-deny
	$(CARGO) deny check licenses bans sources
	@.ci/advisories

ci:
	.ci/run

long:
	.ci/long
