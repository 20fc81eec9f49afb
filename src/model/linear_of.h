// linear_of — a Linear of a few products, said in one line.
#pragma once

#include <initializer_list>

#include "base/check.h"
#include "kernels/linear/linear.h"

namespace manyspan {

inline kernels::Linear::Part product(const Rows<Bf16>& x, const Weight& w, const Rows<Bf16>& y) {
  return {as_const(x), w, {.bf16 = y, .f32 = {}}};
}
inline kernels::Linear::Part product(const Rows<Bf16>& x, const Weight& w, const Rows<float>& y) {
  return {as_const(x), w, {.bf16 = {}, .f32 = y}};
}

inline kernels::Linear linear_of(const std::int32_t* used,
                                 std::initializer_list<kernels::Linear::Part> parts) {
  CHECK(parts.size() <= kernels::Linear::kMaxParts, "too many products for one call");
  kernels::Linear p{};
  for (const kernels::Linear::Part& part : parts) p.parts[p.count++] = part;
  p.used = used;
  return p;
}

}  // namespace manyspan
