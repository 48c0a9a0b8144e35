#!/bin/sh
# Installs what the tests need into .venv: NVRTC and the CUDA headers, from NVIDIA's wheels.
# No GPU and no CUDA toolkit are needed. Does nothing when it is all there.
set -eu
cd "$(dirname "$0")/.."

wheels="nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-runtime==13.0.96"
stamp=".venv/.fusec-$(echo "$wheels" | cksum | cut -d' ' -f1)"
[ -f "$stamp" ] && exit 0

python3 -m venv .venv
# shellcheck disable=SC2086 -- one argument a wheel
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $wheels
touch "$stamp"
