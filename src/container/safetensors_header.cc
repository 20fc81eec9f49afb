#include "container/safetensors_header.h"

#include <limits>
#include <optional>
#include <utility>

#include "base/json_events.h"
#include "base/utf8.h"

namespace manyspan {
namespace {

constexpr std::size_t kMostRank = 8, kMostNameBytes = 1024;
constexpr int kMostDepth = 8;
constexpr std::string_view kMetadata = "__metadata__";

Error corrupt(std::string what) { return Error(Fault::corrupt, std::move(what)); }

// One tensor's object while it is read.
struct Entry {
  std::string name;
  std::optional<StoredType> type;
  std::optional<std::vector<std::uint64_t>> shape, offsets;

  Result<StoredTensor> tensor() const;
};

Result<StoredTensor> Entry::tensor() const {
  if (!type) return corrupt("no dtype");
  if (!shape) return corrupt("no shape");
  if (!offsets) return corrupt("no data_offsets");
  if (offsets->size() != 2)
    return corrupt("data_offsets has " + std::to_string(offsets->size()) + " numbers, not 2");
  const std::uint64_t begin = (*offsets)[0], end = (*offsets)[1];
  if (end < begin) {
    return corrupt("data_offsets end before they begin: offset " + std::to_string(begin) + " to " +
                   std::to_string(end));
  }
  StoredTensor tensor{name, *type, {}, begin, end - begin};
  // Zeros are left out of the first product, so that none can hide an overflow in a product of the others.
  std::int64_t most_bits = bits(*type), all_bits = bits(*type);
  for (const std::uint64_t dim : *shape) {
    const bool fits = dim <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto size = static_cast<std::int64_t>(dim);
    if (!fits || __builtin_mul_overflow(most_bits, size == 0 ? 1 : size, &most_bits))
      return corrupt("shape and dtype overflow 63 bits");
    all_bits = size == 0 ? 0 : all_bits * size;
    tensor.shape.push_back(size);
  }
  if (all_bits % 8 != 0) return corrupt("size is not whole bytes: " + described(tensor));
  const auto bytes = static_cast<std::uint64_t>(all_bits / 8);
  if (bytes != tensor.bytes) {
    return corrupt("size differs: " + described(tensor) + " is " + std::to_string(bytes) +
                   " bytes, data_offsets say " + std::to_string(tensor.bytes));
  }
  return tensor;
}

class HeaderReader : public JsonEvents {
 public:
  Result<void> scalar(Json value) override {
    switch (at_) {
      case At::metadata_value:
        if (value.string() == nullptr)
          return corrupt("metadata " + json_quoted(key_) + " is " + std::string(value.kind_name()) +
                         ", not a string");
        header_.metadata.object()->push_back({std::move(key_), std::move(value)});
        at_ = At::metadata;
        return {};
      case At::dtype:
        if (value.string() == nullptr) return wrong("dtype", value.kind_name(), "a string");
        entry_.type = safetensors_type(*value.string());
        if (!entry_.type)
          return about_entry("dtype " + json_quoted(utf8_beginning(*value.string(), 40)) + " is not known");
        at_ = At::entry;
        return {};
      case At::shape:
      case At::offsets:
        return number(value);
      case At::ignored:
        if (ignored_depth_ == 0) at_ = At::entry;
        return {};
      default:
        return unexpected(value.kind_name());
    }
  }

  Result<void> begin_object() override {
    switch (at_) {
      case At::start:
        at_ = At::root;
        return {};
      case At::root_value:
        at_ = key_ == kMetadata ? At::metadata : At::entry;
        entry_ = Entry{std::move(key_), {}, {}, {}};
        return {};
      case At::ignored:
        ++ignored_depth_;
        return {};
      default:
        return unexpected("an object");
    }
  }

  Result<void> key(std::string key) override {
    switch (at_) {
      case At::root:
        if (key.empty()) return corrupt("a tensor's name is empty");
        if (key.find('\0') != std::string::npos)
          return corrupt("a tensor's name has a zero byte in it: " +
                         json_quoted(utf8_beginning(key, kMostNameBytes)));
        if (key.size() > kMostNameBytes)
          return corrupt("a tensor's name has " + std::to_string(key.size()) + " bytes, at most " +
                         std::to_string(kMostNameBytes) + " are allowed");
        at_ = At::root_value;
        break;
      case At::metadata:
        at_ = At::metadata_value;
        break;
      case At::entry:
        at_ = key == "dtype"          ? At::dtype
              : key == "shape"        ? At::shape
              : key == "data_offsets" ? At::offsets
                                      : At::ignored;
        break;
      default:  // within what is ignored
        break;
    }
    key_ = std::move(key);
    return {};
  }

  Result<void> end_object() override {
    if (at_ == At::ignored) {
      if (--ignored_depth_ == 0) at_ = At::entry;
    } else if (at_ == At::entry) {
      auto tensor = entry_.tensor();
      if (!tensor.ok()) return about_entry(tensor.error().message());
      header_.tensors.push_back(std::move(tensor).value());
      at_ = At::root;
    } else if (at_ == At::metadata) {
      at_ = At::root;
    }
    return {};
  }

  Result<void> begin_array() override {
    if (at_ == At::ignored) {
      ++ignored_depth_;
      return {};
    }
    if ((at_ != At::shape && at_ != At::offsets) || numbers()) return unexpected("an array");
    numbers().emplace();
    return {};
  }

  Result<void> end_array() override {
    if (at_ != At::ignored) {
      at_ = At::entry;
    } else if (--ignored_depth_ == 0) {
      at_ = At::entry;
    }
    return {};
  }

  SafetensorsHeader take() { return std::move(header_); }

 private:
  // What the next event belongs to.
  enum class At { start, root, root_value, metadata, metadata_value, entry, dtype, shape, offsets, ignored };

  std::optional<std::vector<std::uint64_t>>& numbers() {
    return at_ == At::shape ? entry_.shape : entry_.offsets;
  }
  const char* numbers_name() const { return at_ == At::shape ? "shape" : "data_offsets"; }

  Result<void> number(const Json& value) {
    if (!numbers()) return wrong(numbers_name(), value.kind_name(), "an array");
    const auto natural = value.natural();
    if (!natural) {
      const std::string shown = value.kind() == Json::Kind::number ? compact_json(value).substr(0, 40)
                                                                   : std::string(value.kind_name());
      return about_entry(std::string(numbers_name()) + " has " + shown +
                         ", not a plain non-negative integer of 64 bits");
    }
    const std::size_t most = at_ == At::shape ? kMostRank : 2;
    if (numbers()->size() == most)
      return about_entry(std::string(numbers_name()) + " has more than " + std::to_string(most) + " numbers");
    numbers()->push_back(*natural);
    return {};
  }

  Error about_entry(const std::string& what) const {
    return corrupt("tensor " + json_quoted(entry_.name) + ": " + what);
  }
  Error wrong(std::string_view what, std::string_view is, std::string_view should) const {
    return about_entry(std::string(what) + " is " + std::string(is) + ", not " + std::string(should));
  }
  Error unexpected(std::string_view kind) const {
    const std::string is(kind);
    switch (at_) {
      case At::start:
        return corrupt("the header is " + is + ", not an object");
      case At::root_value:
        if (key_ == kMetadata) return corrupt("the metadata are " + is + ", not an object");
        return corrupt("tensor " + json_quoted(key_) + " is " + is + ", not an object");
      case At::metadata_value:
        return corrupt("metadata " + json_quoted(key_) + " is " + is + ", not a string");
      case At::dtype:
        return wrong("dtype", kind, "a string");
      default:
        return wrong(numbers_name(), kind, "an array of integers");
    }
  }

  At at_ = At::start;
  std::string key_;
  Entry entry_;
  int ignored_depth_ = 0;
  SafetensorsHeader header_{{}, Json(Json::Object())};
};

}  // namespace

Result<SafetensorsHeader> read_safetensors_header(std::string_view text) {
  HeaderReader reader;
  // No value is kept beyond its tensor, so the text's own length is bound enough for their number.
  TRY(read_json(text, {.depth = kMostDepth, .values = text.size(), .duplicates = DuplicateKeys::refuse},
                reader));
  return reader.take();
}

}  // namespace manyspan
