#include "container/safetensors.h"

#include <algorithm>
#include <new>
#include <utility>

#include "container/safetensors_header.h"

namespace manyspan {
namespace {

constexpr std::uint64_t kLengthBytes = 8;

Error corrupt(std::string what) { return Error(Fault::corrupt, std::move(what)); }

Result<std::string> read_header_text(const File& file) {
  if (file.size() < kLengthBytes) {
    return corrupt("no room for a header: the file has " + std::to_string(file.size()) +
                   " bytes, its length takes 8");
  }
  std::byte length_bytes[kLengthBytes];
  TRY(file.read_at(0, length_bytes));
  const auto length = load_little_endian<std::uint64_t>(length_bytes);
  if (length < 2)
    return corrupt("the header has " + std::to_string(length) + " bytes, at least 2 are needed");
  if (length > kMostHeaderBytes) {
    return corrupt("the header has " + std::to_string(length) + " bytes, at most " +
                   std::to_string(kMostHeaderBytes) + " are allowed; this may be no safetensors file");
  }
  if (length > file.size() - kLengthBytes) {
    return corrupt("the header has " + std::to_string(length) + " bytes, but only " +
                   std::to_string(file.size() - kLengthBytes) + " are left in the file");
  }
  std::string text(length, '\0');
  TRY(file.read_at(kLengthBytes, std::as_writable_bytes(std::span(text.data(), text.size()))));
  if (text.starts_with("\xEF\xBB\xBF")) return corrupt("the header's JSON has a byte order mark before it");
  if (text.front() != '{') return corrupt("the header does not start with {, so it is no JSON object");
  return text;
}

// Ranges cover the data without hole, overlap or rest.
Result<void> check_tiling(const std::vector<StoredTensor>& tensors, std::uint64_t data_bytes) {
  std::vector<const StoredTensor*> order;
  order.reserve(tensors.size());
  for (const StoredTensor& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const StoredTensor* a, const StoredTensor* b) {
    return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
  });
  std::uint64_t end = 0;
  for (const StoredTensor* tensor : order) {
    if (tensor->offset != end) {
      const char* what = tensor->offset > end ? "a hole before it" : "an overlap with the one before it";
      return corrupt("tensor " + json_quoted(tensor->name) + ": " + what + ": it begins at data offset " +
                     std::to_string(tensor->offset) + ", the one before ends at " + std::to_string(end));
    }
    end += tensor->bytes;  // cannot wrap: the range's own end is offset + bytes, a u64
  }
  if (end != data_bytes) {
    return corrupt("file size differs: the tensors take " + std::to_string(end) + " bytes, the file has " +
                   std::to_string(data_bytes) + " after its header");
  }
  return {};
}

Result<SafetensorsHeader> read_checked(const File& file) {
  const std::string text = TRY(read_header_text(file));
  SafetensorsHeader header = TRY(read_safetensors_header(text));
  // JSON allows line ends and tabs as padding, the format only spaces.
  if (text[text.find_last_not_of(' ')] != '}')
    return corrupt("the header is padded with other bytes than spaces");
  const std::uint64_t data_start = kLengthBytes + text.size();
  TRY(check_tiling(header.tensors, file.size() - data_start));
  for (StoredTensor& tensor : header.tensors) tensor.offset += data_start;
  return header;
}

}  // namespace

Result<Container::Part> read_safetensors(const std::string& path) {
  try {
    File file = TRY(File::open(path));
    auto header = read_checked(file);
    if (!header.ok()) {
      const bool names_path = header.error().message().starts_with(path + ":");
      return names_path ? std::move(header).error() : std::move(header).error().within(path);
    }
    SafetensorsHeader read = std::move(header).value();
    return Container::Part{std::move(file), std::move(read.tensors), std::move(read.metadata)};
  } catch (const std::bad_alloc&) {
    return Error(Fault::exhausted, path + ": no memory for its header");
  }
}

}  // namespace manyspan
