#!/bin/sh
# Installs what the tests need and runs all of them. Needs cargo, python3 with pip, and gcc.
set -eu
cd "$(dirname "$0")/.."

sh tests/setup.sh
if cargo fmt --version >/dev/null 2>&1; then
    cargo fmt --all --check
fi
cargo test --workspace --no-fail-fast "$@"
