// JsonKeys — the keys of one open object, and where each stands; sorted, so that no choice of keys makes it
// slow.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace manyspan {

class JsonKeys {
 public:
  // Remembers `key`; gives its place among the object's members where it was known already.
  std::optional<std::size_t> add(const std::string& key) {
    const auto [known, is_new] = places_.try_emplace(key, places_.size());
    return is_new ? std::nullopt : std::optional(known->second);
  }

 private:
  std::map<std::string, std::size_t> places_;
};

}  // namespace manyspan
