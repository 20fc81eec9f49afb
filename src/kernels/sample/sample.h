// sample — from a row of logits to one token id; the draw depends on the seed and the position alone.
//
//   temperature 0: the first largest logit. Else p = softmax(logits / temperature), cut by top_k, then top_p,
//   then min_p (relative to the largest), and the first id whose running sum of p, in descending p (ties:
//   lower id), passes draw·(sum of what is left)
//
// Shapes     logits [R, V] f32 · wishes [R] · id [R] · logprob [R] f32, of the id under the uncut softmax at
//            temperature 1 (null: not wanted)
// Numerics   the same in every table: f32 logits in, double arithmetic, so that a seed means one text
// Spec       cli.md "Sampling"; model.md 10
#pragma once

#include "base/ids.h"
#include "kernels/op.h"

namespace manyspan::kernels {

// What one row wishes.
struct Next {
  float temperature;   // 0: greedy
  float top_p;         // in (0, 1]
  float min_p;         // in [0, 1)
  std::int32_t top_k;  // 0: all
  std::uint64_t seed;
  Position position;  // of the token to be drawn
};

struct Sample {
  Rows<const float> logits;
  const std::int32_t* used;
  const Next* wishes;
  TokenId* id;
  float* logprob;
  Work work;

  template <class See>
  void views(See& see) {
    see.in("logits", logits), see.look("used", used, 1), see.in("wishes", wishes, logits.rows);
    see.out("id", id, logits.rows), see.out("logprob", logprob, logits.rows), see.work(work);
  }
};
static_assert(kIsParams<Sample>);

// A number in [0, 1), a pure function of both: the seed and then the position are stirred into 64 bits by
// multiply-and-shift rounds (SplitMix64's), of which the upper 53 are taken.
double draw(std::uint64_t seed, Position position);

// The one implementation for host memory, which every host table lists.
void sample(Queue&, const Sample&);
std::size_t sample_work(const Sample&);

}  // namespace manyspan::kernels
