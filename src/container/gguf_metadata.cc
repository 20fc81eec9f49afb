#include "container/gguf_metadata.h"

#include <bit>
#include <utility>

#include "base/json_keys.h"

namespace manyspan {
namespace {

constexpr std::uint64_t kMostKeyBytes = 65535, kMostValueBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostValues = std::uint64_t{4} << 20;
constexpr std::uint32_t kMostAlignment = 1 << 20;
constexpr int kMostDepth = 4;

Error corrupt(std::string what) { return Error(Fault::corrupt, std::move(what)); }

// Of one value; 0 for a type that is none.
std::uint64_t least_bytes(std::uint32_t type) {
  switch (static_cast<GgufValue>(type)) {
    case GgufValue::u8:
    case GgufValue::i8:
    case GgufValue::boolean:
      return 1;
    case GgufValue::u16:
    case GgufValue::i16:
      return 2;
    case GgufValue::u32:
    case GgufValue::i32:
    case GgufValue::f32:
      return 4;
    case GgufValue::u64:
    case GgufValue::i64:
    case GgufValue::f64:
    case GgufValue::text:  // its length
      return 8;
    case GgufValue::list:  // its type and count
      return 12;
  }
  return 0;
}

class ValueReader {
 public:
  explicit ValueReader(GgufCursor& cursor) : cursor_(cursor) {}

  Result<Json> value(std::uint32_t type) {
    start_ = cursor_.position();
    return any(type, 0);
  }

 private:
  Result<Json> any(std::uint32_t type, int depth) {
    if (++values_ > kMostValues)
      return corrupt("the file has more values than " + std::to_string(kMostValues));
    switch (static_cast<GgufValue>(type)) {
      case GgufValue::u8:
        return integer<std::uint8_t>();
      case GgufValue::i8:
        return integer<std::int8_t>();
      case GgufValue::u16:
        return integer<std::uint16_t>();
      case GgufValue::i16:
        return integer<std::int16_t>();
      case GgufValue::u32:
        return integer<std::uint32_t>();
      case GgufValue::i32:
        return integer<std::int32_t>();
      case GgufValue::u64:
        return integer<std::uint64_t>();
      case GgufValue::i64:
        return integer<std::int64_t>();
      case GgufValue::f32:
        return Json(double{TRY(cursor_.number<float>("a value"))});
      case GgufValue::f64:
        return Json(TRY(cursor_.number<double>("a value")));
      case GgufValue::boolean: {
        const auto byte = TRY(cursor_.number<std::uint8_t>("a bool"));
        if (byte > 1) return corrupt("a bool is " + std::to_string(byte) + ", neither 0 nor 1");
        return Json(byte == 1);
      }
      case GgufValue::text:
        return Json(TRY(cursor_.text(kMostValueBytes, "a text")));
      case GgufValue::list:
        return list(depth + 1);
    }
    return corrupt("value type " + std::to_string(type) + " is not known");
  }

  template <class Integer>
  Result<Json> integer() {
    return Json(TRY(cursor_.number<Integer>("a value")));
  }

  Result<Json> list(int depth) {
    if (depth > kMostDepth) return corrupt("lists are nested deeper than " + std::to_string(kMostDepth));
    const auto type = TRY(cursor_.number<std::uint32_t>("a list's type"));
    const auto count = TRY(cursor_.number<std::uint64_t>("a list's count"));
    const std::uint64_t least = least_bytes(type);
    if (least == 0) return corrupt("value type " + std::to_string(type) + " of a list is not known");
    if (count > cursor_.left() / least) {
      return corrupt("a list's count is " + std::to_string(count) + ", but the " +
                     std::to_string(cursor_.left()) + " bytes left in the file hold at most " +
                     std::to_string(cursor_.left() / least));
    }
    if (count > kMostValues - values_) {
      return corrupt("a list's count is " + std::to_string(count) + "; a file may have at most " +
                     std::to_string(kMostValues) + " values");
    }
    Json::Array items;
    items.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) {
      items.push_back(TRY(any(type, depth)));
      if (cursor_.position() - start_ > kMostValueBytes)
        return corrupt("the value has more bytes than " + std::to_string(kMostValueBytes));
    }
    return Json(std::move(items));
  }

  GgufCursor& cursor_;
  std::uint64_t start_ = 0;   // of the value that is read
  std::uint64_t values_ = 0;  // of the file
};

Result<std::uint32_t> alignment_of(std::uint32_t type, const Json& value) {
  if (type != static_cast<std::uint32_t>(GgufValue::u32)) {
    return corrupt("the alignment has value type " + std::to_string(type) + ", must have type " +
                   std::to_string(static_cast<std::uint32_t>(GgufValue::u32)) + ", a u32");
  }
  const auto alignment = static_cast<std::uint32_t>(*value.natural());
  if (!std::has_single_bit(alignment) || alignment > kMostAlignment) {
    return corrupt("the alignment is " + std::to_string(alignment) + ", must be a power of two up to " +
                   std::to_string(kMostAlignment));
  }
  return alignment;
}

}  // namespace

Result<GgufMetadata> read_gguf_metadata(GgufCursor& cursor, std::uint64_t count) {
  GgufMetadata metadata;
  ValueReader reader(cursor);
  JsonKeys keys;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string key = TRY(cursor.text(kMostKeyBytes, "key " + std::to_string(i)));
    if (key.empty()) return corrupt("key " + std::to_string(i) + " is empty");
    const auto place = [&] { return "key " + json_quoted(key); };
    if (keys.add(key)) return corrupt(place() + " is a duplicate");
    const auto type = TRY(cursor.number<std::uint32_t>("a value's type"));
    auto value = reader.value(type);
    if (!value.ok()) return std::move(value).error().within(place());
    if (key == kGgufAlignmentKey) {
      auto alignment = alignment_of(type, value.value());
      if (!alignment.ok()) return std::move(alignment).error().within(place());
      metadata.alignment = alignment.value();
    }
    metadata.values.object()->push_back({std::move(key), std::move(value).value()});
  }
  return metadata;
}

}  // namespace manyspan
