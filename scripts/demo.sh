#!/usr/bin/env bash
# Sets up, builds, and asks the bundled model.
#   scripts/demo.sh              a question about a page of text far longer than the model's window
#   scripts/demo.sh TEXT...      TEXT instead
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/build.sh release manyspan
manyspan=build/release/manyspan

if [ $# -gt 0 ]; then
  exec "$manyspan" run --stats --max-tokens 64 -p "$*"
fi

page=$(cat models/first-light/demo/page.txt)
question=$(cat models/first-light/demo/question.txt)
ids=$(printf '%s' "$page" | "$manyspan" tokenize | wc -w)
cat >&2 <<END

The page, $ids tokens; the model's window is 32, so the answer lies far outside it:

$(printf '%s' "$page" | fold -s -w 100 | sed 's/^/    /')

    $question

END
exec "$manyspan" run --stats --max-tokens 64 -p "$page $question"
