#include "tests/fuzz/described.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "prepared/footprint.h"
#include "spec/layers.h"
#include "spec/slots.h"
#include "text/engram_tokens.h"

namespace manyspan::fuzz {

Outcome blueprint_holds(const Blueprint& b) {
  const Schedule schedule = schedule_of(b);
  HOLD(static_cast<std::int64_t>(schedule.layers.size()) == b.layers, "a schedule of every layer");
  HOLD(!describe(schedule).empty(), "layers are described");
  for (const LayerSchedule& layer : schedule.layers) {
    HOLD(layer.ratio == 0 || (layer.kv_source.value >= 0 && layer.kv_source.value <= layer.layer.value),
         "a layer reads rows of itself or of an earlier one");
  }
  for (const Slot& slot : slots_of(b)) {
    HOLD(slot.rows > 0 && slot.cols > 0 && slot.matrices > 0, "a slot has numbers");
    __extension__ const auto elements = static_cast<unsigned __int128>(slot.rows) * slot.cols * slot.matrices;
    HOLD(elements < static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 16,
         "a slot's bytes can be counted");
  }
  for (const Tiling tiling : {Tiling::plain, Tiling::cpu16x32}) {
    const Footprint print = footprint(b, tiling);
    HOLD(static_cast<std::int64_t>(print.layers.size()) == b.layers, "a footprint of every layer");
    const WeightBytes all = print.of(all_layers(b.layers));
    HOLD(all.held > 0 && all.read > 0 && all.read <= all.held, "a token reads no more than is held");
  }
  return {.accepted = true};
}

Outcome tokenizer_holds(const text::Tokenizer& tokenizer, std::string_view bytes) {
  constexpr std::size_t kMost = 4096;
  const std::string input = replace_invalid_utf8(bytes.substr(0, kMost));
  for (const std::string& text :
       {std::string("In the beginning\n\n  <think>\t12345 \u4f60\u597d \u00e9"), input}) {
    for (const bool match_added : {false, true}) {
      const std::vector<TokenId> ids = tokenizer.encode(text, match_added);
      for (const TokenId id : ids) HOLD(tokenizer.has(id), "ids are of the vocabulary");
      const auto again = tokenizer.decode_bytes(ids);
      HOLD(again.ok() && again.value() == text, "text goes to ids and back");
    }
  }
  const text::EngramTokens tokens = text::engram_tokens(tokenizer);
  HOLD(tokens.map.size() == tokenizer.size(), "every token has a class");
  for (const std::int32_t c : tokens.map)
    HOLD(c >= 0 && static_cast<std::size_t>(c) < tokens.distinct, "classes are numbered from 0");
  return {.accepted = true};
}

Outcome engram_holds(const EngramMap& map, const Blueprint& b) {
  const std::vector<std::int32_t> classes = {0, b.engram.token_classes - 1, kDeadClass,
                                             b.engram.token_classes / 2, 0};
  std::vector<std::int64_t> rows(classes.size() * static_cast<std::size_t>(map.columns()));
  for (std::size_t layer = 0; layer < map.layers().size(); ++layer) {
    map.rows(layer, classes, 0, rows);
    const std::int64_t end = map.layers()[layer].rows;
    HOLD(std::ranges::all_of(rows, [=](std::int64_t row) { return row >= 0 && row < end; }),
         "rows lie in their table");
    HOLD(end == b.engram.table_rows[layer], "a table has the rows that the blueprint says");
  }
  return {.accepted = true};
}

}  // namespace manyspan::fuzz
