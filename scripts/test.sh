#!/usr/bin/env bash
# Sets up, builds and runs the tests.
#   scripts/test.sh           release, all tests
#   scripts/test.sh --asan    AddressSanitizer and UBSan, the fast tests
#   ... NAME...               only the programs that are named, as ctest names them
# The last line is `N passed, N failed`, counting GoogleTest cases; the line before it names the skipped ones.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=release label='fast|slow'
if [ "${1:-}" = --asan ]; then
  preset=asan label=fast
  shift
fi

part() {  # runs a command and says how long it took
  local name=$1 from=$SECONDS
  shift
  "$@"
  echo "time: $name $((SECONDS - from)) s" >&2
}
part setup scripts/setup.sh
part "build $preset" scripts/build.sh "$preset"
exec python3 scripts/run_tests.py "build/$preset" "$label" "$@"
