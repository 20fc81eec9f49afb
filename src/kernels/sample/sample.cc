#include "kernels/sample/sample.h"

#include <algorithm>
#include <cmath>

#include "kernels/carve.h"

namespace manyspan::kernels {
namespace {

struct Choice {
  double p;
  std::int32_t id;
};

// Orders a heap so that its top is the likeliest, the lowest id of equals.
bool less_likely(const Choice& a, const Choice& b) { return a.p != b.p ? a.p < b.p : a.id > b.id; }

std::int32_t first_largest(const float* logits, std::int64_t vocabulary) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < vocabulary; ++i) {
    if (logits[i] > logits[best] || std::isnan(logits[best])) best = i;
  }
  return static_cast<std::int32_t>(best);
}

// The likeliest choices that the wish leaves, most likely first, at the end of `heap`; returns how many.
// A heap gives them one by one, so that only as many are put in order as are left.
std::int64_t cut(const Next& wish, double total, Choice* heap, std::int64_t vocabulary) {
  std::make_heap(heap, heap + vocabulary, less_likely);
  const std::int64_t most = wish.top_k > 0 ? std::min<std::int64_t>(wish.top_k, vocabulary) : vocabulary;
  std::int64_t left = vocabulary;
  const auto take = [&] { std::pop_heap(heap, heap + left--, less_likely); };

  // top_p is a share of what top_k leaves.
  double of = total;
  if (most < vocabulary) {
    of = 0;
    for (std::int64_t i = 0; i < most; ++i) {
      take();
      of += heap[left].p;
    }
  }
  const double likeliest = most < vocabulary ? heap[vocabulary - 1].p : heap[0].p;
  double sum = 0;
  std::int64_t kept = 0;
  while (kept < most) {
    if (kept > 0 && sum >= wish.top_p * of) break;
    if (vocabulary - left == kept) take();
    const double p = heap[vocabulary - 1 - kept].p;
    if (kept > 0 && p < wish.min_p * likeliest) break;
    sum += p;
    ++kept;
  }
  return kept;
}

std::int32_t drawn(const Next& wish, const float* logits, std::int64_t vocabulary, Choice* heap) {
  const std::int32_t best = first_largest(logits, vocabulary);
  if (wish.temperature <= 0) return best;
  double total = 0;
  for (std::int64_t i = 0; i < vocabulary; ++i) {
    double p = std::exp((static_cast<double>(logits[i]) - logits[best]) / wish.temperature);
    if (std::isnan(p)) p = i == best ? 1 : 0;
    heap[i] = {p, static_cast<std::int32_t>(i)};
    total += p;
  }
  const std::int64_t kept = cut(wish, total, heap, vocabulary);
  double left = 0;
  for (std::int64_t i = 0; i < kept; ++i) left += heap[vocabulary - 1 - i].p;
  const double mark = draw(wish.seed, wish.position) * left;
  double sum = 0;
  std::int64_t i = 0;
  while (i + 1 < kept && sum + heap[vocabulary - 1 - i].p <= mark) sum += heap[vocabulary - 1 - i++].p;
  return heap[vocabulary - 1 - i].id;
}

float log_probability(const float* logits, std::int64_t vocabulary, std::int32_t id) {
  const double most = logits[first_largest(logits, vocabulary)];
  double sum = 0;
  for (std::int64_t i = 0; i < vocabulary; ++i) sum += std::exp(logits[i] - most);
  return static_cast<float>(logits[id] - most - std::log(sum));
}

}  // namespace

double draw(std::uint64_t seed, Position position) {
  std::uint64_t x = seed;
  const auto stir = [&](std::uint64_t more) {
    x += (more + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
  };
  stir(0);
  stir(static_cast<std::uint32_t>(position.value));
  return static_cast<double>(x >> 11) * 0x1p-53;
}

std::size_t sample_work(const Sample& p) {
  Carve carve;
  carve.array<Choice>(p.logits.cols);
  return carve.bytes();
}

void sample(Queue&, const Sample& p) {
  Carve carve(p.work);
  auto* heap = carve.array<Choice>(p.logits.cols);
  const std::int64_t rows = rows_used(p.logits.rows, p.used), vocabulary = p.logits.cols;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* logits = p.logits.row(r);
    const std::int32_t id = drawn(p.wishes[r], logits, vocabulary, heap);
    p.id[r] = {id};
    if (p.logprob != nullptr) p.logprob[r] = log_probability(logits, vocabulary, id);
  }
}

}  // namespace manyspan::kernels
