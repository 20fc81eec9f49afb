// vectors — the numbers of one file of tests/data/ops, which the oracle has computed. For tests.
//
// Requires   the file is there and well-formed: it is part of the repository
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tensor/bf16.h"

namespace manyspan::kernels {

class Vectors {
 public:
  explicit Vectors(const std::string& name);  // without folder and ending

  std::vector<Bf16> bf16(const std::string& key) const;
  std::vector<float> f32(const std::string& key) const;
  std::vector<std::int32_t> i32(const std::string& key) const;
  std::vector<std::uint8_t> u8(const std::string& key) const;

 private:
  std::vector<std::uint32_t> words(const std::string& key, std::size_t digits) const;
  std::map<std::string, std::string> hex_;
};

// The bits of either, to compare whole vectors by.
std::vector<std::uint32_t> bits(const std::vector<Bf16>& x);
std::vector<std::uint32_t> bits(const std::vector<float>& x);

}  // namespace manyspan::kernels
