#!/usr/bin/env bash
# Builds the fuzzers and runs them, one after the other.
#   scripts/fuzz.sh [SECONDS] [TARGET...]     60 seconds each, all targets
# What they learn is kept in MANYSPAN_CORPORA (by default build/fuzz/corpora), a folder a target, and where the next run
# begins. A finding ends the script with status 1; its input is named and lies in build/fuzz/found. docs/fuzzing.md says
# what to do with it.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=60
if [[ "${1:-}" =~ ^[0-9]+$ ]]; then
  seconds=$1
  shift
fi
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for folder in tests/data/fuzz/*/; do
    name=$(basename "$folder")
    [ "$name" = found ] || targets+=("$name")
  done
fi

if ! command -v clang++-14 >/dev/null; then
  echo "fuzz: clang++-14 is not installed (Debian: clang-14)" >&2
  exit 1
fi
scripts/build.sh fuzz "${targets[@]/#/fuzz_}"
corpora=${MANYSPAN_CORPORA:-build/fuzz/corpora} status=0
mkdir -p build/fuzz/found
for target in "${targets[@]}"; do
  mkdir -p "$corpora/$target"
  seeds=("tests/data/fuzz/$target")
  if [ -d "tests/data/fuzz/found/$target" ]; then seeds+=("tests/data/fuzz/found/$target"); fi
  longest=8192
  case $target in safetensors | gguf) longest=163840 ;; esac
  log=build/fuzz/$target.log
  # A refused allocation is an answer to test; one above 256 MiB is a finding all the same.
  if ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=32 UBSAN_OPTIONS=print_stacktrace=1 \
    "build/fuzz/tests/fuzz_$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=512 -malloc_limit_mb=256 \
    -max_len=$longest -print_final_stats=1 -artifact_prefix="build/fuzz/found/$target-" \
    "$corpora/$target" "${seeds[@]}" >"$log" 2>&1; then
    cover=$(grep -oE 'cov: [0-9]+ ft: [0-9]+' "$log" | tail -n 1)
    echo "fuzz: $target: $(awk '/number_of_executed_units/ {print $2}' "$log") runs in $seconds s, $cover, nothing found"
  else
    tail -n 40 "$log" >&2
    echo "fuzz: $target: FOUND, see $log" >&2
    status=1
  fi
done
exit $status
