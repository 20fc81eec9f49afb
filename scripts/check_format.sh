#!/usr/bin/env bash
# Fails, naming each place, where a source file is not as clang-format 14 writes it with .clang-format.
# To mend: clang-format-14 -i FILE...
set -euo pipefail
cd "$(dirname "$0")/.."
folders=()
for folder in src apps tests examples bench; do
  if [ -d "$folder" ]; then folders+=("$folder"); fi
done
find "${folders[@]}" \( -name '*.h' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' \) -print0 |
  xargs -0 -r clang-format-14 --dry-run -Werror
