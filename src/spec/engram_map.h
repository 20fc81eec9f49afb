// engram_map — from token ids to rows of the n-gram tables: integer arithmetic, no tables.
//
//   c[p] = map[t[p]];  roll_i = roll_{i-1} XOR tok_i·mult_i over the last tokens, the pad's class where there
//   is none; row of (n-gram length n, head) = roll_{n-1} mod prime[n][head] + offset[n][head]
//
// Shapes     columns are ordered by n-gram length (2..max_ngram), then head
// Threads    immutable once made
// Cost       making it: milliseconds; rows(): max_ngram multiplications and `columns` divisions a token
// Spec       model.md 8.2 to 8.4
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "spec/blueprint.h"

namespace manyspan {

// A position inside an image: no n-gram reaches into or across it.
inline constexpr std::int32_t kDeadClass = -1;

class EngramMap {
 public:
  struct Layer {
    std::vector<std::int64_t> multipliers;  // max_ngram, odd
    std::vector<std::int64_t> primes;       // `columns`
    std::vector<std::int64_t> offsets;      // `columns`: running sums of primes
    std::int64_t rows;                      // their sum
  };

  // `token_map`: the class of every token id.
  // Errors: invalid, where the map's length, range or number of classes is not the blueprint's
  static Result<EngramMap> create(const Blueprint& blueprint, std::vector<std::int32_t> token_map);

  const std::vector<Layer>& layers() const { return layers_; }
  std::int32_t columns() const { return columns_; }         // rows that one token looks up in one table
  std::int32_t lookback() const { return max_ngram_ - 1; }  // earlier tokens that a row depends on

  std::int32_t class_of(TokenId token) const { return token_map_[static_cast<std::size_t>(token.value)]; }

  // Row numbers in table `layer` for each token of `classes` from `first` on; what lies before them there is
  // their history, and what lies before that is the start of the session, or no longer matters: give all of
  // it, or at least lookback() classes. `out`: [(classes.size() - first) · columns()].
  void rows(std::size_t layer, std::span<const std::int32_t> classes, std::size_t first,
            std::span<std::int64_t> out) const;

 private:
  EngramMap() = default;

  std::int32_t max_ngram_ = 0, columns_ = 0, pad_class_ = 0;
  std::vector<std::int32_t> token_map_;
  std::vector<Layer> layers_;
};

// The pieces, for tests and for checking files that carry them.
// `count` odd multipliers of an Engram layer.                                         spec 8.3
std::vector<std::int64_t> engram_multipliers(std::int32_t layer, std::int32_t count,
                                             std::int64_t token_classes);

// One list of (max_ngram - 1)·heads primes for each layer, no prime used twice.       spec 8.2
std::vector<std::vector<std::int64_t>> engram_primes(std::size_t layers, std::int32_t max_ngram,
                                                     std::int32_t heads, std::int64_t vocab_size);

}  // namespace manyspan
