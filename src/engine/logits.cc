#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/guarded.h"
#include "engine/rooms_impl.h"
#include "engine/taps.h"

namespace manyspan {
namespace {

Result<std::vector<std::int64_t>> chunks_of(const LogitsRequest& request, std::int64_t longest) {
  std::vector<std::int64_t> chunks = request.chunks;
  if (chunks.empty()) {
    for (std::int64_t left = request.prompt; left > 0; left -= chunks.back())
      chunks.push_back(std::min(left, longest));
  }
  for (const std::int64_t c : chunks) {
    if (c < 1 || c > longest) {
      return Error(Fault::invalid, "a chunk of " + std::to_string(c) + " tokens; this engine takes 1 to " +
                                       std::to_string(longest));
    }
  }
  const std::int64_t sum = std::accumulate(chunks.begin(), chunks.end(), std::int64_t{0});
  if (sum != request.prompt) {
    return Error(Fault::invalid, "the chunks add up to " + std::to_string(sum) + " tokens, the prompt has " +
                                     std::to_string(request.prompt));
  }
  return chunks;
}

Logits::Tap bf16_tap(std::int64_t rows, std::int64_t cols, const std::vector<Bf16>& values) {
  Logits::Tap tap{TapType::bf16, {rows, cols}, std::vector<std::byte>(values.size() * sizeof(Bf16))};
  std::memcpy(tap.bytes.data(), values.data(), tap.bytes.size());
  return tap;
}

// The lengths again, cut at `at` besides.
std::vector<std::int64_t> cut_at(std::vector<std::int64_t> lengths, std::int64_t at) {
  std::int64_t sum = 0;
  for (auto length = lengths.begin(); length != lengths.end(); sum += *length++) {
    if (sum < at && at < sum + *length) {
      const std::int64_t before = at - sum;
      *length -= before;
      lengths.insert(length, before);
      break;
    }
  }
  return lengths;
}

// Without the rows in which layers above the cone's edge are not exact: of taps that only steps through all layers have.
void drop_inexact(std::map<std::string, TraceStore::Tensor>& taps,
                  const std::map<std::string, TraceStore::Tensor>& below, std::int64_t rows) {
  for (auto& [key, tap] : taps) {
    if (below.contains(key)) continue;
    tap.rows -= rows;
    const auto bytes = static_cast<std::size_t>(rows * tap.cols) * tap_bytes(tap.type);
    tap.bytes.erase(tap.bytes.begin(), tap.bytes.begin() + static_cast<std::ptrdiff_t>(bytes));
  }
}

void append(std::vector<float>& to, const Rows<const float>& rows) {
  to.insert(to.end(), rows.data, rows.data + rows.rows * rows.cols);
}

}  // namespace

Result<Logits> Engine::logits(const LogitsRequest& request, const Cancel* cancel) {
  Rooms& r = *rooms_;
  const Blueprint& b = r.checkpoint->blueprint;
  const Loop::Visit visit(*r.loop);
  const auto count = static_cast<std::int64_t>(request.ids.size());
  if (count == 0) return Error(Fault::invalid, "there are no ids");
  if (request.prompt < 0 || request.prompt > count) {
    return Error(Fault::invalid, "a prompt of " + std::to_string(request.prompt) + " tokens out of " +
                                     std::to_string(count) + " ids");
  }
  auto chunks =
      TRY(chunks_of(request, std::min(r.pipeline->limits().step_rows, r.pipeline->limits().sampled_rows)));
  const auto chosen = TRY(chosen_taps(request.taps, b, r.checkpoint->schedule));
  TraceStore store([&](const std::string& key) { return needed_for(key, chosen); });

  const std::int64_t cone = request.cone ? r.sessions->cone(request.prompt) : 0;
  chunks = cut_at(std::move(chunks), cone);

  const SessionId session = TRY(open_session());
  const auto run = [&]() -> Result<Logits> {
    Logits out;
    out.vocabulary = b.vocabulary;
    std::int64_t at = 0;
    // Each step is posted by itself, so that turns go on in between.
    const auto step = [&](std::int64_t tokens, std::vector<float>& to, Trace* trace) -> Result<void> {
      if (cancel != nullptr && cancel->requested()) return Error(Fault::invalid, "cancelled");
      const Depth depth = at < cone ? Depth::rows : Depth::all;
      const auto want = depth == Depth::rows ? Sessions::Want::nothing : Sessions::Want::all;
      const Sessions::Piece piece{session, std::span(request.ids).subspan(at, tokens), want, {}};
      TRY(r.loop->call("computing logits", [&](Sessions& sessions, Scheduler& scheduler) -> Result<void> {
        scheduler.settle();
        append(to, TRY(sessions.step({&piece, 1}, true, trace, depth)).logits);
        return {};
      }));
      at += tokens;
      return {};
    };
    std::map<std::string, TraceStore::Tensor> below;
    for (const std::int64_t chunk : chunks) {
      TRY(step(chunk, out.prefill, chosen.empty() ? nullptr : &store));
      if (at == cone) below = store.joined();
    }
    auto taps = store.joined();
    if (cone > 0) {
      out.first = r.sessions->exact_above(cone) + b.window - 1;  // its window is right, back to the first
      out.prefill.erase(out.prefill.begin(), out.prefill.begin() + (out.first - cone) * b.vocabulary);
      drop_inexact(taps, below, out.first - cone);
    }
    out.taps = finish_taps(taps, chosen, b);
    for (const std::string& key : chosen) {
      const bool rows = key.ends_with(".kv_rows"), keys = key.ends_with(".index_k");
      if (!rows && !keys) continue;
      const LayerId source{std::stoi(key.substr(1))};
      const auto held = TRY(r.loop->call("reading rows", [&](Sessions& sessions, Scheduler& scheduler) {
        scheduler.settle();
        return sessions.source_rows(session, source);
      }));
      out.taps[key] =
          rows ? bf16_tap(held.rows, b.head_dim, held.values) : bf16_tap(held.rows, b.index_dim, held.keys);
    }
    while (at < count) TRY(step(1, out.decode, nullptr));
    return out;
  };
  auto result = guarded("computing logits", run);
  close_session(session);
  return result;
}

}  // namespace manyspan
