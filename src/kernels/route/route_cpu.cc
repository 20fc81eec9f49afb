#include <cmath>

#include "kernels/cpu_ops.h"
#include "kernels/route/route.h"
#include "kernels/simd_team.h"

namespace manyspan::kernels::MANYSPAN_ISA {
namespace {

constexpr std::int64_t kMostExperts = 1024, kMostChosen = 64;

// The same steps as the reference's, so that the same experts are chosen.
MANYSPAN_INLINE float score_of(float logit, float temperature) {
  const float z = logit / temperature;
  const float softplus = z > 20 ? z : static_cast<float>(::log1p(::exp(static_cast<double>(z))));
  return std::sqrt(softplus);
}

void choose(const Route& p, std::int64_t t) {
  const std::int64_t experts = p.logits.cols, k = p.out.k;
  const bool image = p.bias_vl != nullptr && (p.batch.marks[t] & kMarkImageSpan) != 0;
  const float* bias = image ? p.bias_vl : p.bias;
  float score[kMostExperts], biased[kMostExperts];
  bool taken[kMostExperts];
  for (std::int64_t e = 0; e < experts; ++e) {
    score[e] = score_of(p.logits.row(t)[e], p.temperature);
    biased[e] = score[e] + bias[e];
    taken[e] = false;
  }
  std::int32_t picks[kMostChosen];
  float weight[kMostChosen], sum = 0;
  for (std::int64_t j = 0; j < k; ++j) {
    std::int64_t best = -1;
    for (std::int64_t e = 0; e < experts; ++e) {
      if (!taken[e] && (best < 0 || biased[e] > biased[best])) best = e;
    }
    taken[best] = true;
    picks[j] = static_cast<std::int32_t>(best);
    weight[j] = score[best];
    sum += weight[j];
  }
  for (std::int64_t j = 0; j < k; ++j) {
    if (p.normalise && k > 1) weight[j] /= sum + 1e-20f;
    weight[j] *= p.route_scale;
    if (p.picks_tap.data != nullptr) p.picks_tap.row(t)[j] = picks[j];
    if (p.weights_tap.data != nullptr) p.weights_tap.row(t)[j] = weight[j];
  }
  for (std::int64_t j = 0; j < k; ++j) {
    std::int64_t place = 0;
    for (std::int64_t i = 0; i < k; ++i) place += picks[i] < picks[j];
    p.out.expert[t * k + place] = picks[j];
    p.out.weight[t * k + place] = weight[j];
  }
}

// Counts each expert's pairs, then deals the pairs out, rows ascending.
void group(const Routes& routes, std::int64_t pairs, std::int64_t experts) {
  std::int32_t *begin = routes.plan, *list = routes.plan + experts + 1;
  for (std::int64_t e = 0; e <= experts; ++e) begin[e] = 0;
  for (std::int64_t pair = 0; pair < pairs; ++pair) ++begin[routes.expert[pair] + 1];
  for (std::int64_t e = 0; e < experts; ++e) begin[e + 1] += begin[e];
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    list[begin[routes.expert[pair]]++] = static_cast<std::int32_t>(pair);
  }
  for (std::int64_t e = experts; e > 0; --e) begin[e] = begin[e - 1];  // each stands at its end now
  begin[0] = 0;
}

}  // namespace

const char* route_refuses(const Route& p) {
  if (p.logits.cols > kMostExperts) return "at most 1024 experts";
  if (p.out.k < 1 || p.out.k > kMostChosen || p.out.k > p.logits.cols) {
    return "between 1 and 64 experts a token, and no more than there are";
  }
  return nullptr;
}

void route(Queue& queue, const Route& p) {
  const std::int64_t used = rows_used(p.batch.rows, p.batch.used), experts = p.logits.cols;
  share(workers_of(queue), used, experts * (100 + p.out.k), [&](std::int64_t t) { choose(p, t); });
  group(p.out, used * p.out.k, experts);
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
