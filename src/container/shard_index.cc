#include "container/shard_index.h"

#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/json_events.h"
#include "base/utf8.h"

namespace manyspan {
namespace {

constexpr std::uint64_t kMostIndexBytes = 100'000'000;
constexpr std::string_view kSuffix = ".safetensors";

Error corrupt(std::string what) { return Error(Fault::corrupt, std::move(what)); }

// What a file's name must not be, or empty. The name only, never what it is a link to: links are how caches work.
std::string_view fault_of_name(std::string_view name) {
  if (name.starts_with('/')) return "is an absolute path";
  if (name.find_first_of("/\\") != std::string_view::npos) return "is a path, not a name";
  if (name.find("..") != std::string_view::npos) return "has .. in it";
  if (name.find('\0') != std::string_view::npos) return "has a zero byte in it";
  if (!name.ends_with(kSuffix) || name == kSuffix) return "is not the name of a .safetensors file";
  return {};
}

class IndexReader : public JsonEvents {
 public:
  Result<void> scalar(Json value) override {
    if (depth_ != 2 || !in_map_) return depth_ == 1 && in_map_ ? not_a_map() : Result<void>();
    if (value.string() == nullptr)
      return corrupt("the file of tensor " + json_quoted(key_) + " is " + std::string(value.kind_name()));
    const std::string& file = *value.string();
    const std::string_view fault = fault_of_name(file);
    if (!fault.empty()) {
      return corrupt("tensor " + json_quoted(key_) + ": its shard's path " +
                     json_quoted(utf8_beginning(file, 200)) + " " + std::string(fault));
    }
    index_[file].push_back(std::move(key_));
    return {};
  }
  Result<void> begin_object() override {
    if (depth_ == 2 && in_map_) return corrupt("the file of tensor " + json_quoted(key_) + " is an object");
    if (depth_ == 1 && in_map_) has_map_ = true;
    ++depth_;
    return {};
  }
  Result<void> begin_array() override {
    if (depth_ == 0) return corrupt("the index is an array, not an object");
    if (depth_ <= 2 && in_map_) return not_a_map();
    ++depth_;
    return {};
  }
  Result<void> key(std::string key) override {
    if (depth_ == 1) in_map_ = key == "weight_map";
    key_ = std::move(key);
    return {};
  }
  Result<void> end_object() override {
    --depth_;
    return {};
  }
  Result<void> end_array() override {
    --depth_;
    return {};
  }

  bool has_map() const { return has_map_; }
  ShardIndex take() { return std::move(index_); }

 private:
  static Error not_a_map() { return corrupt("weight_map is not an object of file names"); }

  int depth_ = 0;
  bool in_map_ = false;  // the last key of the root is weight_map
  bool has_map_ = false;
  std::string key_;
  ShardIndex index_;
};

Result<ShardIndex> parse(std::string_view text) {
  IndexReader reader;
  TRY(read_json(text, {.depth = 16, .values = text.size(), .duplicates = DuplicateKeys::refuse}, reader));
  if (!reader.has_map()) return corrupt("no weight_map");
  ShardIndex index = reader.take();
  if (index.empty()) return corrupt("weight_map names no tensor");
  return index;
}

}  // namespace

Result<ShardIndex> read_shard_index(const std::string& path) {
  const std::string text = TRY(read_file(path, kMostIndexBytes));
  auto index = parse(text);
  if (!index.ok()) return std::move(index).error().within(path);
  return index;
}

}  // namespace manyspan
