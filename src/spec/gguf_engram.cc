#include "spec/gguf_engram.h"

#include <algorithm>
#include <limits>
#include <string>

#include "spec/blueprint_checks.h"
#include "spec/engram_map.h"
#include "spec/primes.h"

namespace manyspan {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostConstants = kMostEngramLayers * 8 * 64;
constexpr std::int64_t kUsualPad = 2;
constexpr std::int64_t kUsualVocabulary = 16'000'000;  // where the released model's primes are searched from

struct Reader {
  GgufFields& fields;
  GgufEngram e{};

  void numbers(std::int64_t layers) {
    e.layers = fields.integers({"engram.layer_ids", "engram.layers"}, kMostEngramLayers, {0, layers - 1})
                   .value_or(std::vector<std::int64_t>());
    e.table_rows =
        fields.integers({"engram.rows", "engram.num_embeddings"}, kMostEngramLayers, {1, kMostTableRows})
            .value_or(std::vector<std::int64_t>());
    e.heads = fields.integer({"engram.head_count", "engram.n_heads"}, {1, 64});
    e.head_dim = fields.integer({"engram.key_length", "engram.head_dim"}, {1, 1 << 14});
    e.max_ngram = fields.integer({"engram.max_ngram_size"}, {2, 8});
    e.vocab_size = fields.integer({"engram.vocab_size"}, {2, kMostTableRows});
    e.token_classes = fields.integer({"engram.compressed_vocab_size"}, {1, kMostTokens});
    e.pad_token = fields.integer({"engram.pad_token_id"}, {0, kMostTokens - 1});
    e.pad_class = fields.integer({"engram.pad_id"}, {0, kMostTokens - 1});
    const Json* encoding = fields.find("engram.encoding");
    if (encoding != nullptr && (encoding->string() == nullptr || *encoding->string() != kRow264)) {
      fields.fault("engram.encoding", shown(compact_json(*encoding)) + " is not supported, only \"" +
                                          std::string(kRow264) + "\"");
    }
  }

  // The count that a list of constants must have; none where the numbers that give it are not there.
  void check_length(std::string_view key, std::size_t found, std::int64_t each, const std::string& rule) {
    const std::int64_t expected = std::ssize(e.layers) * each;
    if (static_cast<std::int64_t>(found) == expected) return;
    fields.fault(key, std::to_string(found) + " entries, must be " + rule + ", " + std::to_string(expected));
  }

  void constants() {
    const auto multipliers =
        fields.integers({"engram.multipliers", "engram.hash_multipliers"}, kMostConstants, {1, kLargest});
    const auto primes =
        fields.integers({"engram.primes", "engram.hash_primes"}, kMostConstants, {1, kLargest});
    const auto offsets =
        fields.integers({"engram.offsets", "engram.hash_offsets"}, kMostConstants, {0, kLargest});
    const std::int64_t tables = std::ssize(e.layers);
    if (multipliers) {
      if (!e.max_ngram && tables > 0 && !multipliers->empty())
        e.max_ngram = std::ssize(*multipliers) / tables;
      if (e.max_ngram)
        check_length("engram.multipliers", multipliers->size(), *e.max_ngram, "layers x n-grams");
      for (std::size_t i = 0; i < multipliers->size(); ++i) {
        if ((*multipliers)[i] % 2 == 1) continue;
        fields.fault("engram.multipliers", "entry " + std::to_string(i) + " is " +
                                               std::to_string((*multipliers)[i]) + ", must be odd");
        break;
      }
      e.multipliers = *multipliers;
    }
    if (!primes) return;
    if (!e.heads && e.max_ngram && *e.max_ngram > 1 && tables > 0)
      e.heads = std::ssize(*primes) / (tables * (*e.max_ngram - 1));
    if (e.heads && e.max_ngram)
      check_length("engram.primes", primes->size(), (*e.max_ngram - 1) * *e.heads,
                   "layers x (n-grams - 1) x heads");
    e.primes = *primes;
    if (offsets) check_offsets(*offsets);
  }

  void check_offsets(const std::vector<std::int64_t>& offsets) {
    if (offsets.size() != e.primes.size()) {
      return fields.fault("engram.offsets", std::to_string(offsets.size()) + " entries, but " +
                                                std::to_string(e.primes.size()) + " primes");
    }
    const std::size_t each = e.layers.empty() ? 0 : e.primes.size() / e.layers.size();
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (each > 0 && i % each == 0) sum = 0;
      if (offsets[i] != sum) {
        return fields.fault("engram.offsets", "entry " + std::to_string(i) + " is " +
                                                  std::to_string(offsets[i]) +
                                                  ", the primes before it sum to " + std::to_string(sum));
      }
      if (__builtin_add_overflow(sum, e.primes[i], &sum))
        return fields.fault("engram.primes", "their sum overflows 63 bits");
    }
  }

  void token_map(std::int64_t vocabulary) {
    const auto map = fields.integers({"engram.token_map"}, kMostTokens, {0, kMostTokens - 1});
    if (!map || map->empty()) return;
    if (vocabulary > 0 && std::ssize(*map) != vocabulary) {
      fields.fault("engram.token_map", std::to_string(map->size()) + " entries for a vocabulary of " +
                                           std::to_string(vocabulary));
    }
    e.token_map.assign(map->begin(), map->end());
    if (!e.token_classes) e.token_classes = *std::max_element(map->begin(), map->end()) + 1;
    if (!e.pad_token || !e.pad_class) return;
    if (*e.pad_token < std::ssize(e.token_map) &&
        e.token_map[static_cast<std::size_t>(*e.pad_token)] == *e.pad_class)
      return;
    fields.fault("engram.pad_id", std::to_string(*e.pad_class) +
                                      " is not the class of engram.pad_token_id, " +
                                      std::to_string(*e.pad_token));
  }
};

// A token of the pad's class: the tokenizer's own pad where it is one.
std::optional<std::int64_t> pad_of(const GgufEngram& e, std::optional<std::int64_t> pad_token) {
  const std::int64_t usual = pad_token.value_or(kUsualPad);
  if (e.pad_token) return e.pad_token;
  if (!e.pad_class || e.token_map.empty()) return usual;
  if (usual >= 0 && usual < std::ssize(e.token_map) &&
      e.token_map[static_cast<std::size_t>(usual)] == *e.pad_class)
    return usual;
  const auto at = std::find(e.token_map.begin(), e.token_map.end(), *e.pad_class);
  return at == e.token_map.end() ? std::nullopt : std::optional<std::int64_t>(at - e.token_map.begin());
}

// Any number from the prime before the first one on gives the same primes: the released model's, where it does.
std::int64_t vocabulary_of(const std::vector<std::int64_t>& primes) {
  if (primes.empty() || static_cast<std::uint64_t>(primes[0]) == prime_from(kUsualVocabulary))
    return kUsualVocabulary;
  return primes[0];
}

Error differs(const char* key, std::size_t at, std::int64_t found, std::int64_t expected) {
  return Error(Fault::invalid, std::string(kGgufModel) + key + ": entry " + std::to_string(at) + " is " +
                                   std::to_string(found) + ", the model's numbers give " +
                                   std::to_string(expected));
}

}  // namespace

GgufEngram read_gguf_engram(GgufFields& fields, std::int64_t layers, std::int64_t vocabulary) {
  Reader reader{fields};
  reader.numbers(layers);
  reader.constants();
  reader.token_map(vocabulary);
  return std::move(reader.e);
}

void add_engram(const GgufEngram& e, std::optional<std::int64_t> pad_token, Json& config) {
  const auto add = [&](const char* key, std::optional<std::int64_t> value) {
    if (value && config.find(key) == nullptr) config.set(key, *value);
  };
  if (config.find("engram_layer_ids") == nullptr) config.set("engram_layer_ids", json_list(e.layers));
  if (config.find("engram_num_embeddings") == nullptr && (!e.table_rows.empty() || e.layers.empty()))
    config.set("engram_num_embeddings", json_list(e.table_rows));
  add("engram_n_heads", e.heads);
  add("engram_head_dim", e.head_dim);
  add("engram_max_ngram_size", e.max_ngram);
  add("engram_vocab_size", e.vocab_size.value_or(vocabulary_of(e.primes)));
  add("engram_compressed_vocab_size", e.token_classes);
  add("engram_pad_token_id", pad_of(e, pad_token));
}

Result<void> check_gguf_engram(const GgufEngram& e, const Blueprint& b) {
  const EngramNumbers& n = b.engram;
  if (!e.primes.empty()) {
    std::size_t at = 0;
    for (const auto& layer : engram_primes(n.layers.size(), n.max_ngram, n.heads, n.vocab_size)) {
      for (const std::int64_t prime : layer) {
        if (at < e.primes.size() && e.primes[at] != prime)
          return differs("engram.primes", at, e.primes[at], prime);
        ++at;
      }
    }
  }
  if (!e.multipliers.empty()) {
    std::size_t at = 0;
    for (const std::int32_t layer : n.layers) {
      for (const std::int64_t multiplier : engram_multipliers(layer, n.max_ngram, n.token_classes)) {
        if (at < e.multipliers.size() && e.multipliers[at] != multiplier)
          return differs("engram.multipliers", at, e.multipliers[at], multiplier);
        ++at;
      }
    }
  }
  if (e.pad_class && n.pad_token < std::ssize(e.token_map)) {
    const std::int32_t found = e.token_map[static_cast<std::size_t>(n.pad_token)];
    if (found != *e.pad_class) {
      return Error(Fault::invalid, std::string(kGgufModel) +
                                       "engram.pad_id: " + std::to_string(*e.pad_class) + ", but token " +
                                       std::to_string(n.pad_token) + " has class " + std::to_string(found));
    }
  }
  return {};
}

}  // namespace manyspan
