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

std::string header_of(const std::vector<TensorToWrite>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  Json::Object header;
  if (!metadata.empty()) {
    Json::Object pairs;
    for (const auto& [key, value] : metadata) pairs.push_back({key, value});
    header.push_back({"__metadata__", std::move(pairs)});
  }
  std::uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    Json entry;
    entry.set("dtype", name(tensor.type));
    Json::Array shape(tensor.shape.begin(), tensor.shape.end());
    entry.set("shape", std::move(shape));
    entry.set("data_offsets", Json::Array{offset, offset + tensor.data.size()});
    offset += tensor.data.size();
    header.push_back({tensor.name, std::move(entry)});
  }
  std::string text = compact_json(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

Result<void> write_safetensors(const std::string& path, std::vector<TensorToWrite> tensors,
                               const std::map<std::string, std::string>& metadata) {
  try {
    std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    const std::string header = header_of(tensors, metadata);
    // What this reader would refuse is not written: it knows the rules.
    if (header.size() > kMostHeaderBytes)
      return Error(Fault::invalid, path + ": not written: its header would have " +
                                       std::to_string(header.size()) + " bytes, at most " +
                                       std::to_string(kMostHeaderBytes) + " are allowed");
    const auto again = read_safetensors_header(header);
    if (!again.ok()) return Error(Fault::invalid, path + ": not written: " + again.error().message());
    if (again.value().tensors.size() != tensors.size())
      return Error(Fault::invalid, path + ": not written: a tensor may not be named __metadata__");

    std::array<std::byte, 8> length;
    store_little_endian(static_cast<std::uint64_t>(header.size()), length.data());
    std::vector<Bytes> parts = {length, bytes_of(header)};
    for (const TensorToWrite& tensor : tensors) parts.push_back(tensor.data);
    return write_file_atomically(path, parts);
  } catch (const std::bad_alloc&) {
    return Error(Fault::exhausted, path + ": no memory for its header");
  }
}

}  // namespace manyspan
