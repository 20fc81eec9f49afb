// Directory — the tensors of a container under their official names, and which of them nobody has asked for.
//
// Owns       the names; the tensors are the container's, which must outlive it
// Errors     corrupt: two tensors with one official name · unsupported: a DeepSeek-V4 file
// Spec       containers.md A.5, B.5
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "container/container.h"

namespace manyspan {

class Directory {
 public:
  // `layers`: the trunk's.
  static Result<Directory> of(const Container& container, std::int32_t layers);

  // Null where there is none.
  const StoredTensor* find(std::string_view official) const;
  const StoredTensor* take(std::string_view official);  // the same; what is taken is not left

  // Official names of what was never taken, in order.
  std::vector<std::string_view> left() const;

  const Container& container() const { return *container_; }

 private:
  struct Entry {
    const StoredTensor* tensor;
    bool taken = false;
  };

  explicit Directory(const Container& container) : container_(&container) {}

  const Container* container_;
  std::map<std::string, Entry, std::less<>> tensors_;
};

}  // namespace manyspan
