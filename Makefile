# `make run` serves on embedded defaults; `make test` proves the workspace. Both work from a fresh clone.

CARGO ?= cargo
BINARY = $(or $(CARGO_TARGET_DIR),target)/release/oarlock

PROVIDER = $(dir $(BINARY))oarlock.so

.PHONY: help run build provider test unit scalar-alone doctest house setup setup-build lint deny ci

help:
	@echo 'make run        build, then: oarlock serve on a development set-up, which says how to call it'
	@echo 'make provider   build the OpenSSL provider, target/release/oarlock.so: docs/openssl.md says how it is used'
	@echo 'make test       set up, then every test, the doc tests and the house rules'
	@echo 'make lint       formatting, clippy, documentation, dependencies'
	@echo 'make ci         everything that a change must pass (.ci/run)'

run: build
	$(BINARY) serve

build: setup-build
	$(CARGO) build --release --package oarlock-cli

# Apart from the programs, so that it has nothing of what only they need.
provider: setup-build
	$(CARGO) build --release --package oarlock-openssl
	cp $(dir $(BINARY))liboarlock_openssl.so $(PROVIDER)
	@echo 'built $(PROVIDER)'

test: unit scalar-alone doctest house

unit: setup
	$(CARGO) test --workspace --all-targets

# A machine without AVX-512 IFMA has the scalar engine alone: what is built on engines works with both.
scalar-alone: setup
	OARLOCK_DISABLE=lanes $(CARGO) test --workspace --lib --bins --tests \
	  --config 'target."cfg(all())".runner = ["$(CURDIR)/.ci/of-packages", "oarlock", "oarlock-cli", "--"]'

doctest: setup
	$(CARGO) test --workspace --doc

house: setup
	$(CARGO) xtask check

# What a build needs, and where to get it.
setup-build:
	@.ci/setup build

# The same, and the peers that tests compare with.
setup:
	@.ci/setup test

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps
	$(MAKE) deny

deny:
	$(CARGO) deny --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-deny
	$(CARGO) deny check licenses bans sources

ci:
	.ci/run
