#include "container/container.h"

#include <algorithm>
#include <new>
#include <utility>

namespace manyspan {

std::int64_t StoredTensor::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t dim : shape) product *= dim;
  return product;
}

std::int64_t StoredTensor::rows() const {
  std::int64_t product = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) product *= shape[i];
  return product;
}

std::string described(const StoredTensor& tensor) {
  std::string text(name(tensor.type));
  text += " [";
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(tensor.shape[i]);
  }
  return text + "]";
}

Result<Container> Container::join(std::string path, std::vector<Part> parts) {
  try {
    Container container;
    container.path_ = std::move(path);
    if (!parts.empty()) container.format_ = parts.front().format;
    for (Part& part : parts) {
      Mapping mapping = TRY(part.file.map());
      const std::size_t file = container.files_.size();
      for (StoredTensor& tensor : part.tensors) {
        tensor.file = file;
        container.tensors_.push_back(std::move(tensor));
      }
      container.files_.push_back({std::move(part.file), std::move(mapping), std::move(part.metadata)});
    }
    std::vector<StoredTensor>& tensors = container.tensors_;
    std::stable_sort(tensors.begin(), tensors.end(),
                     [](const StoredTensor& a, const StoredTensor& b) { return a.name < b.name; });
    const auto twice = std::adjacent_find(tensors.begin(), tensors.end(),
                                          [](const auto& a, const auto& b) { return a.name == b.name; });
    if (twice != tensors.end()) {
      return Error(Fault::corrupt,
                   container.place(*twice) + " is also in " + container.file_path(twice[1].file));
    }
    return container;
  } catch (const std::bad_alloc&) {
    return Error(Fault::exhausted, "no memory for a container's list of tensors");
  }
}

const StoredTensor* Container::find(std::string_view name) const {
  const auto at =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const StoredTensor& tensor, std::string_view n) { return tensor.name < n; });
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

std::string Container::place(const StoredTensor& tensor) const {
  return file_path(tensor.file) + ": tensor " + tensor.name;
}

Bytes Container::bytes(const StoredTensor& tensor) const {
  return files_[tensor.file].mapping.bytes().subspan(tensor.offset, tensor.bytes);
}

void Container::advise(const StoredTensor& tensor, std::uint64_t from, std::uint64_t bytes,
                       Access access) const {
  CHECK(from <= tensor.bytes && bytes <= tensor.bytes - from, "advice about foreign bytes");
  files_[tensor.file].file.advise(tensor.offset + from, bytes, access);
}

Result<void> Container::read(const StoredTensor& tensor, std::uint64_t from, std::span<std::byte> out) const {
  if (from > tensor.bytes || out.size() > tensor.bytes - from) {
    return Error(Fault::invalid, place(tensor) + ": " + std::to_string(out.size()) +
                                     " bytes wanted at its byte " + std::to_string(from) + ", but it has " +
                                     std::to_string(tensor.bytes));
  }
  const File& file = files_[tensor.file].file;
  const auto read = file.read_at(tensor.offset + from, out);
  if (read.ok()) return {};
  // The file's own message begins with its path.
  return Error(read.error().fault(), place(tensor) + read.error().message().substr(file.path().size()));
}

Result<void> Container::read_rows(const StoredTensor& tensor, std::int64_t first, std::int64_t count,
                                  std::span<std::byte> out) const {
  const std::int64_t rows = tensor.rows();
  if (first < 0 || count < 0 || first > rows || count > rows - first) {
    return Error(Fault::invalid, place(tensor) + ": rows " + std::to_string(first) + " to " +
                                     std::to_string(first) + " + " + std::to_string(count) + " wanted of " +
                                     std::to_string(rows));
  }
  const StoredBlock block = block_of(tensor.type);
  if (tensor.row_elements() % block.elements != 0)
    return Error(Fault::invalid, place(tensor) + ": its rows are no whole bytes");
  const auto row_bytes = static_cast<std::uint64_t>(tensor.row_elements() / block.elements * block.bytes);
  CHECK(out.size() == static_cast<std::uint64_t>(count) * row_bytes, "room for other than `count` rows");
  return read(tensor, static_cast<std::uint64_t>(first) * row_bytes, out);
}

}  // namespace manyspan
