#include <algorithm>
#include <cmath>

#include "device/host_device.h"
#include "kernels/carve.h"
#include "kernels/dots.h"
#include "kernels/reference_ops.h"
#include "kernels/round/round.h"

namespace manyspan::kernels::reference {
namespace {

constexpr std::int64_t kQueries = 8;  // that are worked on at once

std::int64_t list_rows(const Attend& p) {
  return p.window_rows + (p.source.ratio > 0 ? p.selected.width : 0);
}

// What one query needs; query i of a batch of them has the i-th part of each array.
struct Scratch {
  float* values;   // [list][head_dim]: window rows, then selected ones; absent ones are left as they are
  Bf16* row;       // [heads][head_dim]: rotated queries, and a row being decoded before that
  double* octets;  // of the heads' queries
  float* acc;      // [heads][head_dim]
  double* sum;     // [heads][head_dim]
};

Scratch scratch(const Attend& p, Carve& carve) {
  const std::int64_t d = p.window.head_dim, heads = p.heads;
  return {carve.array<float>(kQueries * list_rows(p) * d), carve.array<Bf16>(kQueries * heads * d),
          carve.array<double>(kQueries * octet_doubles(heads, d)), carve.array<float>(kQueries * heads * d),
          carve.array<double>(kQueries * heads * d)};
}

Scratch of_query(const Attend& p, const Scratch& s, std::int64_t i) {
  const std::int64_t d = p.window.head_dim, heads = p.heads;
  return {s.values + i * list_rows(p) * d, s.row + i * heads * d, s.octets + i * octet_doubles(heads, d),
          s.acc + i * heads * d, s.sum + i * heads * d};
}

const std::uint8_t* bytes(const std::byte* at) { return reinterpret_cast<const std::uint8_t*>(at); }

// Lays out the list's values and the rotated queries.
void gather(const Attend& p, std::int64_t t, const Scratch& s) {
  const std::int64_t d = p.window.head_dim, slot = p.batch.slot[t], position = p.batch.position[t].value;
  const auto widen = [&](float* to) {
    std::transform(s.row, s.row + d, to, [](Bf16 x) { return to_float(x); });
  };
  float* to = s.values;
  for (std::int64_t at = std::max<std::int64_t>(0, position - p.window_rows + 1); at <= position;
       ++at, to += d) {
    grid8_decode(bytes(p.window.codes(slot, at)), bytes(p.window.scales(slot, at)), d, s.row);
    widen(to);
  }
  to = s.values + p.window_rows * d;
  const std::int64_t selected = p.source.ratio > 0 ? p.selected.count[t] : 0;
  for (std::int64_t i = 0; i < selected; ++i, to += d) {
    const std::int64_t row = p.selected.rows[t * p.selected.width + i];
    grid4_row_decode(bytes(p.source.codes(slot, row)), bytes(p.source.scales(slot, row)), d, s.row);
    widen(to);
  }
  std::copy_n(p.q.row(t), p.heads * d, s.row);
  for (std::int64_t h = 0; h < octets_of(p.heads) * kOctet; ++h) {
    Bf16* q = h < p.heads ? s.row + h * d : nullptr;
    if (q != nullptr) rope_row(p.rope, position, false, q + d - p.rope.dims);
    set_lane(q, d, static_cast<int>(h % kOctet), s.octets + h / kOctet * d * kOctet);
  }
}

float exponential(float x) { return static_cast<float>(std::exp(static_cast<double>(x))); }

struct Running {
  float most = -1e30f, sum = 0;
};

// Those entries of a block of the list that are there.
struct Present {
  std::int64_t entry[kAttendBlock];
  std::int64_t count = 0;
};

Present present_in(std::int64_t begin, std::int64_t end, std::int64_t window, std::int64_t padded) {
  Present present;
  for (std::int64_t i = begin; i < end; ++i) {
    if (i < window || i >= padded) present.entry[present.count++] = i;
  }
  return present;
}

// One block for one head.
void step(const float* score, const Present& there, const float* values, std::int64_t d, Running& now,
          float* acc, double* sum) {
  const float most = std::max(now.most, *std::max_element(score, score + there.count));
  const double shrink = exponential(now.most - most);
  double total = 0;
  std::fill_n(sum, d, 0.0);
  for (std::int64_t i = 0; i < there.count; ++i) {
    const float weight = exponential(score[i] - most);
    total += weight;
    const double rounded = to_float(to_bf16(weight));
    const float* v = values + there.entry[i] * d;
    for (std::int64_t c = 0; c < d; ++c) sum[c] += rounded * v[c];
  }
  now.sum = static_cast<float>(now.sum * shrink + total);
  for (std::int64_t c = 0; c < d; ++c) acc[c] = static_cast<float>(acc[c] * shrink + sum[c]);
  now.most = most;
}

// All blocks for the eight heads of one octet.
void eight_heads(const Attend& p, std::int64_t t, std::int64_t octet, const Scratch& s) {
  const std::int64_t d = p.window.head_dim, first = octet * kOctet;
  const std::int64_t heads = std::min<std::int64_t>(kOctet, p.heads - first);
  const std::int64_t window = std::min<std::int64_t>(p.window_rows, p.batch.position[t].value + 1);
  const std::int64_t list = p.window_rows + (p.source.ratio > 0 ? p.selected.count[t] : 0);
  Running now[kOctet];
  std::fill_n(s.acc + first * d, heads * d, 0.0f);
  for (std::int64_t begin = 0; begin < list; begin += kAttendBlock) {
    const Present there = present_in(begin, std::min(list, begin + kAttendBlock), window, p.window_rows);
    if (there.count == 0) continue;
    float score[kOctet][kAttendBlock];
    for (std::int64_t i = 0; i < there.count; ++i) {
      double dots[kOctet] = {};
      add_dots(s.values + there.entry[i] * d, 0, d, d, s.octets + octet * d * kOctet, 1, dots);
      for (int lane = 0; lane < kOctet; ++lane) score[lane][i] = static_cast<float>(dots[lane]) * p.scale;
    }
    for (std::int64_t h = 0; h < heads; ++h) {
      step(score[h], there, s.values, d, now[h], s.acc + (first + h) * d, s.sum + (first + h) * d);
    }
  }
  for (std::int64_t h = 0; h < heads; ++h) {
    const float total = now[h].sum + exponential(p.sink[first + h] - now[h].most);
    Bf16* o = p.o.row(t) + (first + h) * d;
    for (std::int64_t c = 0; c < d; ++c) o[c] = to_bf16(s.acc[(first + h) * d + c] / total);
    if (p.core_tap.data != nullptr) std::copy_n(o, d, p.core_tap.row(t) + (first + h) * d);
    rope_row(p.rope, p.batch.position[t].value, true, o + d - p.rope.dims);
  }
}

}  // namespace

std::size_t attend_work(const Attend& p) {
  Carve carve;
  scratch(p, carve);
  return carve.bytes();
}

void attend(Queue& queue, const Attend& p) {
  Carve carve(p.work);
  const Scratch s = scratch(p, carve);
  Workers& workers = workers_of(queue);
  const std::int64_t used = rows_used(p.batch.rows, p.batch.used), octets = octets_of(p.heads);
  for (std::int64_t first = 0; first < used; first += kQueries) {
    const std::int64_t queries = std::min(kQueries, used - first);
    workers.for_each(queries, [&](std::int64_t i, int) { gather(p, first + i, of_query(p, s, i)); });
    workers.for_each(queries * octets, [&](std::int64_t item, int) {
      eight_heads(p, first + item / octets, item % octets, of_query(p, s, item / octets));
    });
  }
}

}  // namespace manyspan::kernels::reference
