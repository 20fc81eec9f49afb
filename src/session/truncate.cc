#include <algorithm>

#include "base/check.h"
#include "session/resume.h"
#include "session/sessions.h"

namespace manyspan {

std::int64_t Sessions::rerun_for(SessionId id, std::int64_t length) const {
  return length - resume_at(timeline(id).held(), length, blueprint_).from;
}

Result<void> Sessions::truncate(SessionId id, std::int64_t length) {
  Timeline& t = mutable_timeline(id);
  CHECK(length >= 0 && length <= t.length(), "a length that the session has");
  const Resume resume = resume_at(t.held(), length, blueprint_);
  const std::vector<TokenId> again(t.tokens().begin() + resume.from, t.tokens().begin() + length);
  t.forget(resume.over_rows ? length : resume.from);
  auto done = [&]() -> Result<void> {
    if (!resume.over_rows) return run_again(id, again, {});
    TRY(begin_replay(id, resume.from));
    TRY(run_again(id, again, replay_cuts(resume.from, blueprint_)));
    t.end_replay(exact_after_replay(resume.from, blueprint_));
    return {};
  }();
  if (!done.ok()) t.reset();
  return done;
}

// Makes the session ready to run the tokens from `from` on again, over the rows that it keeps.
Result<void> Sessions::begin_replay(SessionId id, std::int64_t from) {
  const std::int32_t empty = TRY(mutable_timeline(id).begin_replay(from));
  for (std::int32_t layer = 0; layer < blueprint_.layers; ++layer) {
    const StatePart part{StatePart::Of::window, {layer}, empty};
    zeros_.resize(pipeline_.bytes_of(part));
    pipeline_.write(part, zeros_);
  }
  return {};
}

Result<void> Sessions::run_again(SessionId id, std::span<const TokenId> tokens,
                                 std::span<const std::int64_t> cuts) {
  Timeline& t = mutable_timeline(id);
  while (!tokens.empty()) {
    std::int64_t count = std::min<std::int64_t>(pipeline_.limits().step_rows, std::ssize(tokens));
    for (const std::int64_t cut : cuts) {
      if (cut > t.length()) count = std::min(count, cut - t.length());
    }
    const Piece piece{id, tokens.first(count), Want::nothing, {}};
    TRY(step({&piece, 1}, false));
    t.put_back();
    tokens = tokens.subspan(count);
  }
  return {};
}

}  // namespace manyspan
