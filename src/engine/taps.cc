#include "engine/taps.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace manyspan {
namespace {

std::string name_of_key(const std::string& key) {
  const auto dot = key.find('.');
  return dot == std::string::npos ? key : key.substr(dot + 1);
}

// The count that a list tap goes with, which a trace takes beside it.
std::string count_key(const std::string& key) {
  const std::string name = name_of_key(key), layer = key.substr(0, key.size() - name.size());
  if (name == "selection") return layer + "selection_count";
  if (name == "cand_blocks") return layer + "cand_count";
  return "";
}

// Rows of a tap that golden files hold with more than two dimensions.
std::vector<std::int64_t> shape_of(const std::string& key, const TraceStore::Tensor& t, const Blueprint& b) {
  const std::string name = name_of_key(key);
  if (name == "x_in" || name == "x_mid" || name == "x_out" || name == "x_before_engram")
    return {t.rows, b.streams, b.hidden};
  if (name == "attn_comb") return {t.rows, b.streams, b.streams};
  if (name == "attn_core") return {t.rows, b.heads, b.head_dim};
  if (name == "index_q") return {t.rows, b.index_heads, b.index_dim};
  return {t.rows, t.cols};
}

const std::int32_t* row_of(const TraceStore::Tensor& t, std::int64_t row) {
  return reinterpret_cast<const std::int32_t*>(t.bytes.data()) + row * t.cols;
}

// Lists with -1 past their counts, as wide as the longest.
Logits::Tap padded_list(const TraceStore::Tensor& list, const TraceStore::Tensor& count) {
  std::int64_t width = 1;
  for (std::int64_t r = 0; r < count.rows; ++r) width = std::max<std::int64_t>(width, *row_of(count, r));
  Logits::Tap tap{TapType::i32, {list.rows, width}, {}};
  std::vector<std::int32_t> out(list.rows * width, -1);
  for (std::int64_t r = 0; r < list.rows; ++r)
    std::copy_n(row_of(list, r), *row_of(count, r), out.begin() + r * width);
  tap.bytes.resize(out.size() * sizeof(std::int32_t));
  std::memcpy(tap.bytes.data(), out.data(), tap.bytes.size());
  return tap;
}

// Block lists as a mask over all blocks up to the newest.
Logits::Tap block_mask(const TraceStore::Tensor& list, const TraceStore::Tensor& count) {
  std::int64_t blocks = 0;
  for (std::int64_t r = 0; r < list.rows; ++r) {
    for (std::int32_t i = 0; i < *row_of(count, r); ++i)
      blocks = std::max<std::int64_t>(blocks, row_of(list, r)[i] + 1);
  }
  Logits::Tap tap{TapType::u8, {list.rows, blocks}, std::vector<std::byte>(list.rows * blocks)};
  for (std::int64_t r = 0; r < list.rows; ++r) {
    for (std::int32_t i = 0; i < *row_of(count, r); ++i)
      tap.bytes[r * blocks + row_of(list, r)[i]] = std::byte{1};
  }
  return tap;
}

}  // namespace

std::vector<std::string> tap_keys(const Blueprint& b, const Schedule& schedule) {
  std::vector<std::string> keys;
  for (const LayerSchedule& l : schedule.layers) {
    const auto add = [&](std::initializer_list<const char*> names) {
      for (const char* name : names) keys.push_back(tap_key(name, l.layer));
    };
    if (l.engram >= 0) add({"x_before_engram", "engram_rows", "engram_embed", "engram_gate"});
    add({"x_in", "pre_in", "attn_in", "attn_post", "attn_comb", "attn_core", "attn_out", "x_mid", "pre_mid",
         "ffn_in", "experts", "expert_w", "ffn_out"});
    if (l.is_kv_source) add({"latent", "kv_rows", "index_k"});
    if (l.is_index_source) add({"index_q", "index_w", "index_score", "selection"});
    if (l.writes_candidates) add({"cand_blocks"});
  }
  for (const char* name : {"x_out", "pre_out", "final_norm"}) keys.push_back(name);
  if (!b.draft_targets().empty()) keys.push_back("main_hidden");
  return keys;
}

Result<std::vector<std::string>> chosen_taps(const std::vector<std::string>& asked, const Blueprint& b,
                                             const Schedule& schedule) {
  const std::vector<std::string> keys = tap_keys(b, schedule);
  std::vector<std::string> chosen;
  for (const std::string& name : asked) {
    const std::size_t before = chosen.size();
    for (const std::string& key : keys) {
      if (key == name || name_of_key(key) == name) chosen.push_back(key);
    }
    if (chosen.size() != before) continue;
    std::string all;
    for (const std::string& key : keys) {
      const std::string known = name_of_key(key);
      if ((" " + all + ",").find(" " + known + ",") == std::string::npos)
        all += (all.empty() ? "" : ", ") + known;
    }
    return Error(Fault::invalid, "no tap is named \"" + name + "\"; there are " + all +
                                     ", each of all its layers, or of one that has it, as L2.attn_in");
  }
  return chosen;
}

bool needed_for(const std::string& key, const std::vector<std::string>& chosen) {
  return std::any_of(chosen.begin(), chosen.end(),
                     [&](const std::string& c) { return c == key || count_key(c) == key; });
}

std::map<std::string, Logits::Tap> finish_taps(const std::map<std::string, TraceStore::Tensor>& all,
                                               const std::vector<std::string>& chosen, const Blueprint& b) {
  std::map<std::string, Logits::Tap> taps;
  for (const std::string& key : chosen) {
    const auto at = all.find(key);
    if (at == all.end()) continue;  // kv_rows and index_k are read from the cache
    const std::string counts = count_key(key);
    if (counts.empty()) {
      taps[key] = {at->second.type, shape_of(key, at->second, b), at->second.bytes};
    } else if (name_of_key(key) == "selection") {
      taps[key] = padded_list(at->second, all.at(counts));
    } else {
      taps[key] = block_mask(at->second, all.at(counts));
    }
  }
  return taps;
}

}  // namespace manyspan
