#include "container/gguf_write.h"

#include <new>
#include <utility>

#include "base/file.h"
#include "container/gguf_header.h"
#include "container/gguf_types.h"

namespace manyspan {
namespace {

constexpr std::uint32_t kUsualAlignment = 32;

template <class Number>
void put(std::string& out, Number number) {
  std::byte bytes[sizeof(Number)];
  store_little_endian(number, bytes);
  out += text_of(bytes);
}

std::uint64_t padded(std::uint64_t bytes, std::uint32_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

void GgufKeys::begin(std::string_view key, GgufValue type) {
  put_text(key);
  put(static_cast<std::uint32_t>(type));
  ++count_;
}

void GgufKeys::begin_list(std::string_view key, GgufValue type, std::size_t count) {
  begin(key, GgufValue::list);
  put(static_cast<std::uint32_t>(type));
  put(static_cast<std::uint64_t>(count));
}

void GgufKeys::add(std::string_view key, std::string_view text) {
  begin(key, GgufValue::text);
  put_text(text);
}

void GgufKeys::add(std::string_view key, const std::vector<std::string>& texts) {
  begin_list(key, GgufValue::text, texts.size());
  for (const std::string& text : texts) put_text(text);
}

Result<std::string> gguf_front(GgufKeys keys, std::span<const TensorOutline> tensors,
                               std::uint32_t alignment) {
  if (alignment == 0) return Error(Fault::invalid, "the alignment is 0");
  if (alignment != kUsualAlignment) keys.add(kGgufAlignmentKey, alignment);
  std::string front = "GGUF";
  put(front, std::uint32_t{3});
  put(front, static_cast<std::uint64_t>(tensors.size()));
  put(front, keys.count());
  front += keys.bytes();
  std::uint64_t offset = 0, data_bytes = 0;
  for (const TensorOutline& tensor : tensors) {
    const auto type = gguf_number(tensor.type);
    if (!type) {
      return Error(Fault::invalid,
                   "tensor " + tensor.name + ": GGUF has no type " + std::string(name(tensor.type)));
    }
    put(front, static_cast<std::uint64_t>(tensor.name.size()));
    front += tensor.name;
    put(front, static_cast<std::uint32_t>(tensor.shape.size()));
    for (std::size_t i = tensor.shape.size(); i-- > 0;)
      put(front, static_cast<std::uint64_t>(tensor.shape[i]));
    put(front, *type);
    put(front, offset);
    data_bytes = offset + tensor.bytes;
    offset = padded(data_bytes, alignment);
  }
  front.resize(padded(front.size(), alignment), '\0');
  // What this reader would refuse is not written: it knows the rules.
  GgufCursor cursor(bytes_of(front), front.size() + data_bytes);
  const auto again = read_gguf_header(cursor);
  if (!again.ok()) return Error(Fault::invalid, again.error().message());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const StoredTensor& read = again.value().tensors[i];
    if (read.bytes == tensors[i].bytes) continue;
    return Error(Fault::invalid, "tensor " + read.name + ": " + described(read) + " is " +
                                     std::to_string(read.bytes) + " bytes, but " +
                                     std::to_string(tensors[i].bytes) + " are given");
  }
  return front;
}

Result<void> write_gguf(const std::string& path, GgufKeys keys, std::span<const TensorToWrite> tensors,
                        std::uint32_t alignment) {
  try {
    std::vector<TensorOutline> outlines;
    for (const TensorToWrite& t : tensors) outlines.push_back({t.name, t.type, t.shape, t.data.size()});
    auto front = gguf_front(std::move(keys), outlines, alignment);
    if (!front.ok()) return std::move(front).error().within(path + ": not written");
    const std::string zeros(alignment, '\0');
    std::vector<Bytes> parts = {bytes_of(front.value())};
    for (const TensorToWrite& tensor : tensors) {
      parts.push_back(tensor.data);
      const std::uint64_t bytes = tensor.data.size();
      if (&tensor != &tensors.back())
        parts.push_back(bytes_of(zeros).first(padded(bytes, alignment) - bytes));
    }
    return write_file_atomically(path, parts);
  } catch (const std::bad_alloc&) {
    return Error(Fault::exhausted, path + ": no memory for its header");
  }
}

}  // namespace manyspan
