#include "spec/engram_map.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/check.h"
#include "spec/pcg64.h"
#include "spec/primes.h"

namespace manyspan {

std::vector<std::int64_t> engram_multipliers(std::int32_t layer, std::int32_t count,
                                             std::int64_t token_classes) {
  constexpr std::uint32_t kSeedOfLayer = 10007;
  const std::int64_t bound =
      std::max<std::int64_t>(1, std::numeric_limits<std::int64_t>::max() / token_classes / 2);
  Pcg64 random(kSeedOfLayer * static_cast<std::uint32_t>(layer));
  std::vector<std::int64_t> multipliers;
  for (std::int32_t i = 0; i < count; ++i) {
    multipliers.push_back(2 * static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound))) + 1);
  }
  return multipliers;
}

std::vector<std::vector<std::int64_t>> engram_primes(std::size_t layers, std::int32_t max_ngram,
                                                     std::int32_t heads, std::int64_t vocab_size) {
  // Every search starts at the same number and skips what is taken, so the primes simply follow each other.
  std::uint64_t next = static_cast<std::uint64_t>(vocab_size);
  std::vector<std::vector<std::int64_t>> primes(layers);
  for (std::vector<std::int64_t>& layer : primes) {
    for (std::int32_t i = 0; i < (max_ngram - 1) * heads; ++i) {
      const std::uint64_t prime = prime_from(next);
      layer.push_back(static_cast<std::int64_t>(prime));
      next = prime + 1;
    }
  }
  return primes;
}

namespace {

Error wrong_map(const std::string& what) { return Error(Fault::invalid, "Engram token map: " + what); }

Result<void> check_map(const EngramNumbers& numbers, std::int32_t vocabulary,
                       const std::vector<std::int32_t>& map) {
  if (map.size() != static_cast<std::size_t>(vocabulary)) {
    return wrong_map(std::to_string(map.size()) + " entries for a vocabulary of " +
                     std::to_string(vocabulary));
  }
  std::vector<bool> seen(static_cast<std::size_t>(numbers.token_classes));
  std::int32_t distinct = 0;
  for (std::size_t token = 0; token < map.size(); ++token) {
    const std::int32_t c = map[token];
    if (c < 0 || c >= numbers.token_classes) {
      return wrong_map("token " + std::to_string(token) + " has class " + std::to_string(c) +
                       ", not one of 0 to " + std::to_string(numbers.token_classes - 1));
    }
    if (!seen[static_cast<std::size_t>(c)]) ++distinct;
    seen[static_cast<std::size_t>(c)] = true;
  }
  if (distinct != numbers.token_classes) {
    return wrong_map(std::to_string(distinct) + " classes are used; engram_compressed_vocab_size is " +
                     std::to_string(numbers.token_classes));
  }
  return {};
}

}  // namespace

Result<EngramMap> EngramMap::create(const Blueprint& blueprint, std::vector<std::int32_t> token_map) {
  const EngramNumbers& numbers = blueprint.engram;
  TRY(check_map(numbers, blueprint.vocabulary, token_map));
  EngramMap map;
  map.max_ngram_ = numbers.max_ngram;
  map.columns_ = (numbers.max_ngram - 1) * numbers.heads;
  map.pad_class_ = token_map[static_cast<std::size_t>(numbers.pad_token)];
  map.token_map_ = std::move(token_map);
  const auto primes =
      engram_primes(numbers.layers.size(), numbers.max_ngram, numbers.heads, numbers.vocab_size);
  for (std::size_t i = 0; i < numbers.layers.size(); ++i) {
    Layer layer{
        engram_multipliers(numbers.layers[i], numbers.max_ngram, numbers.token_classes), primes[i], {}, 0};
    for (const std::int64_t prime : layer.primes) {
      layer.offsets.push_back(layer.rows);
      layer.rows += prime;
    }
    map.layers_.push_back(std::move(layer));
  }
  return map;
}

void EngramMap::rows(std::size_t layer, std::span<const std::int32_t> classes, std::size_t first,
                     std::span<std::int64_t> out) const {
  CHECK(
      first <= classes.size() && out.size() == (classes.size() - first) * static_cast<std::size_t>(columns_),
      "one row number for each token and column");
  const Layer& table = layers_[layer];
  const std::size_t heads = static_cast<std::size_t>(columns_ / (max_ngram_ - 1));
  std::size_t column = 0;
  for (std::size_t p = first; p < classes.size(); ++p) {
    bool blocked = false;
    std::int64_t roll = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(max_ngram_); ++i) {
      blocked = blocked || p < i || classes[p - i] == kDeadClass;
      roll ^= (blocked ? pad_class_ : classes[p - i]) * table.multipliers[i];
      if (i == 0) continue;
      for (std::size_t h = 0; h < heads; ++h, ++column) {
        const std::size_t c = (i - 1) * heads + h;
        out[column] = roll % table.primes[c] + table.offsets[c];
      }
    }
  }
}

}  // namespace manyspan
