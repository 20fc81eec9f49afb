#include "container/gguf.h"

#include <cstdio>
#include <filesystem>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "container/gguf_header.h"

namespace manyspan {
namespace {

using Parts = std::vector<Container::Part>;

constexpr char kNumber[] = "split.no", kCount[] = "split.count", kTensors[] = "split.tensors.count";

// "PREFIX-00002-of-00003.gguf".
struct PartName {
  std::string prefix;  // with its folder
  std::uint32_t number, count;

  std::string of(std::uint32_t n) const {
    char tail[32];
    std::snprintf(tail, sizeof tail, "-%05u-of-%05u.gguf", n, count);
    return prefix + tail;
  }
};

std::optional<PartName> part_name(std::string_view path) {
  constexpr std::string_view kPattern = "-00000-of-00000.gguf";
  if (path.size() <= kPattern.size()) return std::nullopt;
  const std::string_view tail = path.substr(path.size() - kPattern.size());
  std::uint32_t numbers[2] = {0, 0};
  for (std::size_t i = 0; i < kPattern.size(); ++i) {
    const bool digit = tail[i] >= '0' && tail[i] <= '9';
    if (kPattern[i] == '0' ? !digit : tail[i] != kPattern[i]) return std::nullopt;
    std::uint32_t& number = numbers[i < kPattern.find("-of-") ? 0 : 1];
    if (digit) number = number * 10 + static_cast<std::uint32_t>(tail[i] - '0');
  }
  return PartName{std::string(path.substr(0, path.size() - kPattern.size())), numbers[0], numbers[1]};
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// One of the set's keys; none where the file has none.
Result<std::optional<std::uint64_t>> split_key(const Container::Part& part, const char* key) {
  const Json* value = part.metadata.find(key);
  if (value == nullptr) return std::optional<std::uint64_t>();
  const auto number = value->natural();
  if (!number) {
    return Error(Fault::corrupt,
                 part.file.path() + ": " + key + " is " + std::string(value->kind_name()) + ", not a count");
  }
  return std::optional<std::uint64_t>(*number);
}

class Set {
 public:
  Set(PartName name, Container::Part first, std::uint64_t count)
      : name_(std::move(name)), opened_(first.file.path()), count_(count) {
    parts_.push_back(std::move(first));
  }

  Result<Parts> read() {
    for (std::uint32_t n = 2; n <= name_.count; ++n) {
      const std::string path = name_.of(n);
      std::error_code unknown;
      if (!std::filesystem::exists(path, unknown)) return missing(n, path);
      auto part = read_gguf(path);
      if (!part.ok()) return std::move(part).error().within(opened_ + ": split set");
      parts_.push_back(std::move(part).value());
      TRY(check_part(parts_.back(), n));
    }
    TRY(check_total());
    TRY(check_types());
    return std::move(parts_);
  }

 private:
  Error missing(std::uint32_t n, const std::string& path) const {
    std::string what = ": the split set is not whole: split.count is " + std::to_string(count_);
    if (const Json* total = parts_.front().metadata.find(kTensors))
      what += ", split.tensors.count " + compact_json(*total);
    return Error(Fault::not_found, opened_ + what + ", but the part of split.no " + std::to_string(n - 1) +
                                       ", " + file_name(path) + ", is missing");
  }

  Result<void> check_part(const Container::Part& part, std::uint32_t n) const {
    TRY(check(part, kNumber, n - 1));
    return check(part, kCount, count_);
  }

  Result<void> check(const Container::Part& part, const char* key, std::uint64_t expected) const {
    const auto said = TRY(split_key(part, key));
    if (said == expected) return {};
    return Error(Fault::corrupt, opened_ + ": split set: " + file_name(part.file.path()) + " has " + key +
                                     " " + (said ? std::to_string(*said) : "missing") + ", must be " +
                                     std::to_string(expected));
  }

  Result<void> check_total() const {
    const auto said = TRY(split_key(parts_.front(), kTensors));
    std::uint64_t found = 0;
    for (const Container::Part& part : parts_) found += part.tensors.size();
    if (!said || *said == found) return {};
    return Error(Fault::corrupt, opened_ + ": split.tensors.count is " + std::to_string(*said) +
                                     ", but the parts have " + std::to_string(found) + " tensors");
  }

  // Files that read a shared type number differently were not made by one program.
  Result<void> check_types() const {
    const StoredTensor *q2 = nullptr, *fp8 = nullptr;
    for (const Container::Part& part : parts_) {
      for (const StoredTensor& tensor : part.tensors) {
        if (tensor.type == StoredType::q2_0) q2 = &tensor;
        if (tensor.type == StoredType::fp8_b128) fp8 = &tensor;
      }
    }
    if (q2 == nullptr || fp8 == nullptr) return {};
    return Error(Fault::corrupt, opened_ + ": split set: type 42 is " + std::string(name(q2->type)) +
                                     " in tensor " + q2->name + ", but " + std::string(name(fp8->type)) +
                                     " in tensor " + fp8->name);
  }

  PartName name_;
  std::string opened_;
  std::uint64_t count_;
  Parts parts_;
};

}  // namespace

Result<Container::Part> read_gguf(const std::string& path) {
  try {
    File file = TRY(File::open(path));
    GgufCursor cursor(file);
    auto header = read_gguf_header(cursor);
    if (!header.ok()) {
      const bool names_path = header.error().message().starts_with(path + ":");
      return names_path ? std::move(header).error() : std::move(header).error().within(path);
    }
    GgufHeader read = std::move(header).value();
    return Container::Part{std::move(file), std::move(read.tensors), std::move(read.metadata),
                           ContainerFormat::gguf};
  } catch (const std::bad_alloc&) {
    return Error(Fault::exhausted, path + ": no memory for its header");
  }
}

Result<Parts> read_gguf_model(const std::string& path) {
  Container::Part part = TRY(read_gguf(path));
  const std::uint64_t number = TRY(split_key(part, kNumber)).value_or(0);
  const std::uint64_t count = TRY(split_key(part, kCount)).value_or(1);
  std::optional<PartName> name = part_name(path);
  if (number != 0 || (name && name->number != 1 && count > 1)) {
    return Error(Fault::invalid, path + ": split set: this is part " +
                                     std::to_string(name ? name->number : number + 1) + " of " +
                                     std::to_string(count) + "; open its first part" +
                                     (name ? ", " + file_name(name->of(1)) : ""));
  }
  if (count <= 1) {
    Parts parts;
    parts.push_back(std::move(part));
    return parts;
  }
  if (!name) {
    return Error(Fault::invalid,
                 path + ": split.count is " + std::to_string(count) +
                     ", so its name must end in -00001-of-NNNNN.gguf for the other parts to be found");
  }
  if (name->count != count) {
    return Error(Fault::corrupt, path + ": split.count is " + std::to_string(count) + ", but the name says " +
                                     std::to_string(name->count) + " parts");
  }
  return Set(std::move(*name), std::move(part), count).read();
}

Result<Parts> read_gguf_of(const std::string& folder, const std::vector<std::string>& names) {
  std::vector<std::string> models;
  for (const std::string& name : names) {
    const auto part = part_name(name);
    if (!part || part->number == 1 || part->count == 1) models.push_back(name);
  }
  if (models.size() == 1) return read_gguf_model((std::filesystem::path(folder) / models.front()).string());
  if (models.empty()) {
    const auto part = part_name(names.front());
    return Error(Fault::not_found, folder + ": the split set of " + names.front() + " lacks its first part" +
                                       (part ? ", " + part->of(1) : ""));
  }
  return Error(Fault::invalid, folder + ": holds " + std::to_string(models.size()) +
                                   " GGUF models; name one of them, such as " + models.front());
}

}  // namespace manyspan
