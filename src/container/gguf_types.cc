#include "container/gguf_types.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace manyspan {
namespace {

struct Numbered {
  std::uint32_t number;
  StoredType type;
};

// In ascending order; a number's readings stand together.
constexpr Numbered kNumbers[] = {
    {0, StoredType::f32},         {1, StoredType::f16},         {2, StoredType::q4_0},
    {3, StoredType::q4_1},        {6, StoredType::q5_0},        {7, StoredType::q5_1},
    {8, StoredType::q8_0},        {9, StoredType::q8_1},        {10, StoredType::q2_k},
    {11, StoredType::q3_k},       {12, StoredType::q4_k},       {13, StoredType::q5_k},
    {14, StoredType::q6_k},       {15, StoredType::q8_k},       {16, StoredType::iq2_xxs},
    {17, StoredType::iq2_xs},     {18, StoredType::iq3_xxs},    {19, StoredType::iq1_s},
    {20, StoredType::iq4_nl},     {21, StoredType::iq3_s},      {22, StoredType::iq2_s},
    {23, StoredType::iq4_xs},     {24, StoredType::i8},         {25, StoredType::i16},
    {26, StoredType::i32},        {27, StoredType::i64},        {28, StoredType::f64},
    {29, StoredType::iq1_m},      {30, StoredType::bf16},       {34, StoredType::tq1_0},
    {35, StoredType::tq2_0},      {39, StoredType::mxfp4_ggml}, {40, StoredType::nvfp4_ggml},
    {41, StoredType::q1_0},       {42, StoredType::q2_0},       {42, StoredType::fp8_b128},
    {43, StoredType::mxfp8_b256},
};

constexpr std::size_t kCount = std::size(kNumbers);

// The types alone, so that a number's readings are a span.
constexpr auto kTypes = [] {
  struct {
    StoredType at[kCount];
  } types{};
  for (std::size_t i = 0; i < kCount; ++i) types.at[i] = kNumbers[i].type;
  return types;
}();

struct Withdrawn {
  std::uint32_t number;
  std::string_view name;
};
constexpr Withdrawn kWithdrawn[] = {{4, "Q4_2"},        {5, "Q4_3"},       {31, "Q4_0_4_4"},
                                    {32, "Q4_0_4_8"},   {33, "Q4_0_8_8"},  {36, "IQ4_NL_4_4"},
                                    {37, "IQ4_NL_4_8"}, {38, "IQ4_NL_8_8"}};

Error refused(std::uint32_t number) {
  const std::string type = "type " + std::to_string(number);
  for (const Withdrawn& w : kWithdrawn) {
    if (w.number != number) continue;
    return Error(Fault::unsupported, type + " (" + std::string(w.name) +
                                         ") was withdrawn; make the file again with a newer program");
  }
  if (number >= 202 && number <= 399) {
    return Error(Fault::unsupported, type +
                                         " is a row-interleaved repack of ik_llama.cpp; convert the file "
                                         "with the program that made it");
  }
  if ((number >= 97 && number <= 99) || (number >= 133 && number <= 158))
    return Error(Fault::unsupported, type + " is known to ik_llama.cpp alone, and not supported");
  return Error(Fault::unsupported, type + " is not known");
}

}  // namespace

Result<std::span<const StoredType>> gguf_readings(std::uint32_t number) {
  const auto [first, last] =
      std::equal_range(std::begin(kNumbers), std::end(kNumbers), Numbered{number, {}},
                       [](const Numbered& a, const Numbered& b) { return a.number < b.number; });
  if (first == last) return refused(number);
  return std::span<const StoredType>(kTypes.at + (first - std::begin(kNumbers)),
                                     static_cast<std::size_t>(last - first));
}

std::optional<std::uint32_t> gguf_number(StoredType type) {
  for (const Numbered& n : kNumbers) {
    if (n.type == type) return n.number;
  }
  return std::nullopt;
}

Result<std::uint64_t> gguf_bytes(std::span<const std::int64_t> shape, StoredType type) {
  const StoredBlock block = block_of(type);
  const std::int64_t row = shape.empty() ? 1 : shape.back();
  if (row % block.elements != 0) {
    return Error(Fault::corrupt, "rows of " + std::to_string(row) + " elements are no whole blocks of " +
                                     std::to_string(block.elements) + ", as " + std::string(name(type)) +
                                     " has them");
  }
  // Zeros are left out of the first product, so that none can hide an overflow in a product of the others.
  std::int64_t most = std::max<std::int64_t>(row / block.elements, 1), all = row / block.elements;
  bool fits = !__builtin_mul_overflow(most, std::int64_t{block.bytes}, &most);
  all = fits ? all * block.bytes : 0;
  for (std::size_t i = 0; fits && i + 1 < shape.size(); ++i) {
    fits = !__builtin_mul_overflow(most, std::max<std::int64_t>(shape[i], 1), &most);
    if (fits) all *= shape[i];
  }
  // The elements may overflow where the bytes do not: other rooms count both.
  std::int64_t elements = 1;
  for (const std::int64_t dim : shape)
    fits = fits && !__builtin_mul_overflow(elements, std::max<std::int64_t>(dim, 1), &elements);
  if (!fits) return Error(Fault::corrupt, "dimensions and type overflow 63 bits");
  return static_cast<std::uint64_t>(all);
}

}  // namespace manyspan
