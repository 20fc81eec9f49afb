#include "container/gguf_header.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "container/gguf_metadata.h"
#include "container/gguf_types.h"

namespace manyspan {
namespace {

// The least that a pair and a tensor take: empty texts, the smallest value, no dimensions.
constexpr std::uint64_t kLeastPairBytes = 8 + 4 + 1, kLeastTensorBytes = 8 + 4 + 4 + 8;

Error corrupt(std::string what) { return Error(Fault::corrupt, std::move(what)); }
std::string quoted(const StoredTensor& tensor) { return "tensor " + json_quoted(tensor.name); }

// A tensor as the file lists it.
struct Listed {
  StoredTensor tensor;  // type and bytes not yet known; offset from the first byte of data
  std::uint32_t type;
};

struct Reader {
  GgufCursor& cursor;
  std::uint64_t alignment = 0, data_start = 0;
  std::vector<Listed> listed{};

  std::uint64_t data_bytes() const {
    return cursor.file_size() > data_start ? cursor.file_size() - data_start : 0;
  }
  std::uint64_t padded(std::uint64_t bytes) const { return (bytes + alignment - 1) / alignment * alignment; }

  Result<void> check_version() {
    std::byte magic[4] = {};
    if (cursor.left() < sizeof magic) {
      return corrupt("no magic word: the file has " + std::to_string(cursor.left()) + " bytes");
    }
    TRY(cursor.read(magic, "the magic word"));
    if (text_of(magic) != "GGUF") return corrupt("the magic word is not GGUF");
    const auto version = TRY(cursor.number<std::uint32_t>("the version"));
    if (version == 2 || version == 3) return {};
    if ((version & 0xffffu) == 0 && version != 0)
      return Error(Fault::unsupported, "a big-endian file; only little-endian ones are supported");
    return Error(Fault::unsupported,
                 "version " + std::to_string(version) +
                     " is not supported, only versions 2 and 3; make the file again with a "
                     "newer program");
  }

  Result<std::uint64_t> count_of(std::string_view things) {
    return cursor.number<std::uint64_t>("the count of " + std::string(things));
  }

  Result<void> check_count(std::uint64_t count, std::uint64_t least, const std::string& things) const {
    if (count <= cursor.left() / least) return {};
    return corrupt("the count of " + things + " is " + std::to_string(count) + ", but the " +
                   std::to_string(cursor.left()) + " bytes left in the file hold at most " +
                   std::to_string(cursor.left() / least));
  }

  Result<Listed> read_tensor(std::uint64_t index) {
    StoredTensor tensor{};
    const std::string nth = "the name of tensor " + std::to_string(index);
    tensor.name = TRY(cursor.text(kMostGgufNameBytes, nth));
    if (tensor.name.empty()) return corrupt(nth + " is empty");
    if (tensor.name.find('\0') != std::string::npos) return corrupt(nth + " has a zero byte in it");
    auto read = read_place(tensor);
    if (!read.ok()) return std::move(read).error().within(quoted(tensor));
    return Listed{std::move(tensor), read.value()};
  }

  // The type's number.
  Result<std::uint32_t> read_place(StoredTensor& tensor) {
    const auto rank = TRY(cursor.number<std::uint32_t>("the number of dimensions"));
    if (rank > kMostGgufRank) {
      return corrupt(std::to_string(rank) + " dimensions, at most " + std::to_string(kMostGgufRank) +
                     " are allowed");
    }
    for (std::uint32_t i = 0; i < rank; ++i) {
      const auto size = TRY(cursor.number<std::uint64_t>("a dimension"));
      if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return corrupt("dimension " + std::to_string(i) + " is " + std::to_string(size) + ", above 2^63 - 1");
      tensor.shape.push_back(static_cast<std::int64_t>(size));
    }
    while (tensor.shape.size() > 1 && tensor.shape.back() == 1) tensor.shape.pop_back();
    std::reverse(tensor.shape.begin(), tensor.shape.end());
    const auto type = TRY(cursor.number<std::uint32_t>("a tensor's type"));
    tensor.offset = TRY(cursor.number<std::uint64_t>("a tensor's offset"));
    return type;
  }

  Result<void> check_names() const {
    std::vector<std::string_view> names;
    names.reserve(listed.size());
    for (const Listed& l : listed) names.push_back(l.tensor.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return {};
    return corrupt("tensor " + json_quoted(*twice) + " is a duplicate");
  }

  // What lies between tensor i's first byte and the next one's, or the end of the file; none where they disorder.
  bool has_extent(std::size_t i, std::uint64_t bytes) const {
    const std::uint64_t offset = listed[i].tensor.offset;
    const bool last = i + 1 == listed.size();
    const std::uint64_t end = last ? data_bytes() : listed[i + 1].tensor.offset;
    if (end < offset || bytes > end - offset) return false;
    return last ? end - offset - bytes <= alignment : end - offset == padded(bytes);
  }

  // Programs that share a number for different types differ in bytes: the reading is taken that fits every tensor of
  // that number in the file.
  Result<StoredType> settle(std::uint32_t number, std::span<const StoredType> readings) const {
    std::vector<StoredType> fit;
    for (const StoredType reading : readings) {
      bool fits = true;
      for (std::size_t i = 0; fits && i < listed.size(); ++i) {
        if (listed[i].type != number) continue;
        const auto bytes = gguf_bytes(listed[i].tensor.shape, reading);
        fits = bytes.ok() && has_extent(i, bytes.value());
      }
      if (fits) fit.push_back(reading);
    }
    if (fit.size() == 1) return fit.front();
    std::string names;
    for (const StoredType reading : readings)
      names += (names.empty() ? "" : ", ") + std::string(name(reading));
    return Error(Fault::unsupported,
                 "type " + std::to_string(number) +
                     " means different things to different "
                     "programs, and the tensors' sizes " +
                     (fit.empty() ? "fit none of those known here (" : "do not tell which (") + names + ")");
  }

  Result<void> find_types() {
    for (Listed& l : listed) {
      auto readings = gguf_readings(l.type);
      if (!readings.ok()) return std::move(readings).error().within(quoted(l.tensor));
      l.tensor.type = readings.value().front();
    }
    for (const std::uint32_t number : {42u, 43u}) {
      const auto is = [=](const Listed& l) { return l.type == number; };
      const auto first = std::find_if(listed.begin(), listed.end(), is);
      if (first == listed.end()) continue;
      auto type = settle(number, TRY(gguf_readings(number)));
      if (!type.ok()) return std::move(type).error().within(quoted(first->tensor));
      for (Listed& l : listed) {
        if (is(l)) l.tensor.type = type.value();
      }
    }
    for (Listed& l : listed) {
      auto bytes = gguf_bytes(l.tensor.shape, l.tensor.type);
      if (!bytes.ok()) return std::move(bytes).error().within(quoted(l.tensor));
      l.tensor.bytes = bytes.value();
    }
    return {};
  }

  // Each tensor begins at the padded end of the one before; the last ends where the file does.
  Result<void> check_tiling() const {
    std::uint64_t next = 0, end = data_start;
    for (const Listed& l : listed) {
      const StoredTensor& t = l.tensor;
      const std::string offset = std::to_string(t.offset);
      if (t.offset % alignment != 0) {
        return corrupt(quoted(t) + ": its data offset " + offset + " is not a multiple of the alignment " +
                       std::to_string(alignment));
      }
      if (t.offset != next) {
        const char* what = t.offset > next ? "a hole before it" : "an overlap with the one before it";
        return corrupt(quoted(t) + ": " + what + ": its data offset is " + offset +
                       ", the one before ends at " + std::to_string(next));
      }
      const std::uint64_t room = data_bytes() > t.offset ? data_bytes() - t.offset : 0;
      if (t.bytes > room) {
        return corrupt(quoted(t) + ": file size differs: " + described(t) + " is " + std::to_string(t.bytes) +
                       " bytes from data offset " + offset + " on, where the file has " +
                       std::to_string(room));
      }
      next = padded(t.offset + t.bytes);
      end = data_start + t.offset + t.bytes;
    }
    if (listed.empty()) end = cursor.position();
    if (end < cursor.file_size() && cursor.file_size() - end > alignment) {
      return corrupt("file size differs: the last tensor ends at byte " + std::to_string(end) +
                     ", but the file has " + std::to_string(cursor.file_size()) + " bytes");
    }
    return {};
  }

  Result<GgufHeader> read() {
    TRY(check_version());
    const std::uint64_t tensors = TRY(count_of("tensors")), pairs = TRY(count_of("keys"));
    TRY(check_count(pairs, kLeastPairBytes, "keys"));
    TRY(check_count(tensors, kLeastTensorBytes, "tensors"));
    GgufMetadata metadata = TRY(read_gguf_metadata(cursor, pairs));
    listed.reserve(static_cast<std::size_t>(std::min(tensors, cursor.left() / kLeastTensorBytes)));
    for (std::uint64_t i = 0; i < tensors; ++i) listed.push_back(TRY(read_tensor(i)));
    alignment = metadata.alignment;
    data_start = padded(cursor.position());
    TRY(check_names());
    TRY(find_types());
    TRY(check_tiling());
    GgufHeader header{{}, std::move(metadata.values)};
    header.tensors.reserve(listed.size());
    for (Listed& l : listed) {
      // A tensor of no bytes may stand past the end of the file.
      l.tensor.offset = std::min(data_start + l.tensor.offset, cursor.file_size());
      header.tensors.push_back(std::move(l.tensor));
    }
    return header;
  }
};

}  // namespace

Result<GgufHeader> read_gguf_header(GgufCursor& cursor) { return Reader{cursor}.read(); }

}  // namespace manyspan
