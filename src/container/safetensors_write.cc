#include "container/safetensors_write.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/file.h"
#include "container/safetensors.h"
#include "container/safetensors_header.h"

namespace manyspan {
namespace {

std::string header_of(std::span<const TensorOutline> tensors,
                      const std::map<std::string, std::string>& metadata) {
  Json::Object header;
  if (!metadata.empty()) {
    Json::Object pairs;
    for (const auto& [key, value] : metadata) pairs.push_back({key, value});
    header.push_back({"__metadata__", std::move(pairs)});
  }
  std::uint64_t offset = 0;
  for (const TensorOutline& tensor : tensors) {
    Json entry;
    entry.set("dtype", name(tensor.type));
    Json::Array shape(tensor.shape.begin(), tensor.shape.end());
    entry.set("shape", std::move(shape));
    entry.set("data_offsets", Json::Array{offset, offset + tensor.bytes});
    offset += tensor.bytes;
    header.push_back({tensor.name, std::move(entry)});
  }
  std::string text = compact_json(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

Result<std::string> safetensors_front(std::span<const TensorOutline> tensors,
                                      const std::map<std::string, std::string>& metadata) {
  const std::string header = header_of(tensors, metadata);
  // What this reader would refuse is not written: it knows the rules.
  if (header.size() > kMostHeaderBytes)
    return Error(Fault::invalid, "its header would have " + std::to_string(header.size()) +
                                     " bytes, at most " + std::to_string(kMostHeaderBytes) + " are allowed");
  const auto again = read_safetensors_header(header);
  if (!again.ok()) return Error(Fault::invalid, again.error().message());
  if (again.value().tensors.size() != tensors.size())
    return Error(Fault::invalid, "a tensor may not be named __metadata__");
  std::array<std::byte, 8> length;
  store_little_endian(static_cast<std::uint64_t>(header.size()), length.data());
  return std::string(text_of(length)) + header;
}

Result<void> write_safetensors(const std::string& path, std::vector<TensorToWrite> tensors,
                               const std::map<std::string, std::string>& metadata) {
  try {
    std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    std::vector<TensorOutline> outlines;
    for (const TensorToWrite& t : tensors) outlines.push_back({t.name, t.type, t.shape, t.data.size()});
    const auto front = safetensors_front(outlines, metadata);
    if (!front.ok()) return Error(front.error()).within(path + ": not written");
    std::vector<Bytes> parts = {bytes_of(front.value())};
    for (const TensorToWrite& tensor : tensors) parts.push_back(tensor.data);
    return write_file_atomically(path, parts);
  } catch (const std::bad_alloc&) {
    return Error(Fault::exhausted, path + ": no memory for its header");
  }
}

}  // namespace manyspan
