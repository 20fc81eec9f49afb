#!/usr/bin/env bash
# Configures and builds one preset: scripts/build.sh release|asan [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift

launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

# One compiler a core, but not more than memory has room for: the largest file takes about 1 GiB.
jobs=$(nproc)
room=$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo 2>/dev/null || true)
if [ -n "$room" ] && [ "$room" -lt "$jobs" ]; then jobs=$((room > 1 ? room : 1)); fi

log=build/$preset.configure.log
mkdir -p build
cmake --preset "$preset" "${launcher[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
targets=()
if [ $# -gt 0 ]; then targets=(--target "$@"); fi
cmake --build "build/$preset" -j "$jobs" "${targets[@]}" >&2
