#include "engine/fingerprint.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/crc32c.h"

namespace manyspan {
namespace {

constexpr std::size_t kSampleBytes = 64;

// A running sum over numbers, each as eight bytes, and over text and bytes with their lengths before them.
class Sum {
 public:
  void add(std::int64_t number) {
    std::array<std::byte, sizeof number> bytes;
    store_little_endian(number, bytes.data());
    sum_ = crc32c(bytes, sum_);
  }
  void add(float number) { add(std::int64_t{std::bit_cast<std::int32_t>(number)}); }
  void add(Bytes bytes) {
    add(std::ssize(bytes));
    sum_ = crc32c(bytes, sum_);
  }
  template <class Number>
  void add(const std::vector<Number>& numbers) {
    add(std::ssize(numbers));
    for (const Number n : numbers) add(std::int64_t{n});
  }
  template <class... Numbers>
  void add_all(const Numbers&... numbers) {
    (add(numbers), ...);
  }
  std::uint32_t value() const { return sum_; }

 private:
  std::uint32_t sum_ = 0;
};

Result<void> add_matrix(Sum& sum, const Weights& weights, const MatrixSource& m) {
  sum.add_all(m.rows, m.cols, bytes_of(name(m.encoding)), std::ssize(m.codes), std::ssize(m.scales));
  std::array<std::byte, kSampleBytes> room;
  const std::span sample = std::span(room).first(std::min(m.codes.size(), kSampleBytes));
  for (const std::uint64_t from : {std::uint64_t{0}, std::uint64_t{m.codes.size() - sample.size()}}) {
    TRY(weights.read(m, Plane::codes, from, sample));
    sum.add(Bytes(sample));
  }
  return {};
}

}  // namespace

std::uint32_t sum_of_numbers(const Blueprint& b) {
  Sum sum;
  const auto add = [&](auto number) {
    if constexpr (std::is_floating_point_v<decltype(number)>) {
      sum.add(number);
    } else {
      sum.add(static_cast<std::int64_t>(number));
    }
  };
  const auto add_all = [&](auto... numbers) { (add(numbers), ...); };
  add_all(b.vocabulary, b.hidden, b.layers, b.heads, b.head_dim, b.rope_dim, b.q_rank, b.o_rank, b.o_groups,
          b.window, b.experts, b.experts_per_token, b.expert_inner, b.route_scale, b.gate_temperature,
          b.normalise_routes, b.swiglu_limit, b.norm_eps, b.rope_theta, b.compress_rope_theta, b.yarn.factor,
          b.yarn.beta_fast, b.yarn.beta_slow, b.yarn.original_length);
  sum.add_all(b.compress_ratios, b.kv_sources, b.index_sources);
  add_all(b.index_heads, b.index_dim, b.index_rows, b.candidate_source, b.candidate_blocks,
          b.candidate_block_rows, b.streams, b.sinkhorn_iterations, b.mix_eps);
  sum.add_all(b.engram.layers, b.engram.table_rows);
  add_all(b.engram.max_ngram, b.engram.vocab_size, b.engram.heads, b.engram.head_dim, b.engram.pad_token,
          b.engram.token_classes);
  return sum.value();
}

Result<std::uint32_t> sum_of_weights(const Weights& weights) {
  Sum sum;
  for (const Slot& slot : weights.slots()) {
    for (const std::int32_t expert : {0, slot.matrices - 1}) {
      const MatrixSource* matrix = weights.find(slot.role, slot.layer, expert);
      if (matrix == nullptr) continue;
      sum.add_all(bytes_of(name(slot.role)), std::int64_t{slot.layer.value}, std::int64_t{slot.matrices});
      TRY(add_matrix(sum, weights, *matrix));
      if (slot.matrices == 1) break;
    }
  }
  return sum.value();
}

Result<SnapshotOrigin> snapshot_origin(const Blueprint& blueprint, const Weights& weights,
                                       std::string_view table) {
  return SnapshotOrigin{.model = sum_of_numbers(blueprint),
                        .weights = TRY(sum_of_weights(weights)),
                        .numerics = std::string(table.substr(0, kMostNumericsBytes))};
}

}  // namespace manyspan
