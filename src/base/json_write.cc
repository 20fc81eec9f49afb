#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/json.h"

namespace manyspan {
namespace {

struct Style {
  std::string_view comma, colon;
  bool names_infinity;  // Infinity and NaN by name, else null
};
constexpr Style kCompact{",", ":", false};
constexpr Style kPython{", ", ": ", true};

void write_quoted(std::string_view text, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += kHex[(c >> 4) & 15];
          out += kHex[c & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// The shortest digits that read back as `value`, laid out as Python's repr() does: plain where the decimal
// exponent is in [-4, 16), else one digit before the point and an exponent of at least two digits.
void write_double(double value, std::string& out) {
  std::array<char, 32> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  if (text.starts_with('-')) {
    out += '-';
    text.remove_prefix(1);
  }
  const std::size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + 2, end, exponent);
  if (text[e + 1] == '-') exponent = -exponent;
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);

  if (exponent < -4 || exponent >= 16) {
    out += text;  // to_chars writes exponents as Python does: a sign and at least two digits
  } else if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += digits;
  } else {
    const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() < whole + 1) digits.resize(whole + 1, '0');
    out.append(digits, 0, whole);
    out += '.';
    out.append(digits, whole, std::string::npos);
  }
}

}  // namespace

class JsonWriter {
 public:
  explicit JsonWriter(const Style& style) : style_(style) {}

  void write(const Json& json) {
    std::visit([this](const auto& value) { put(value); }, json.state_);
  }
  std::string take() { return std::move(out_); }

 private:
  void put(std::monostate) { out_ += "null"; }
  void put(bool value) { out_ += value ? "true" : "false"; }
  void put(std::int64_t value) { out_ += std::to_string(value); }
  void put(std::uint64_t value) { out_ += std::to_string(value); }
  void put(const Json::BigInteger& value) { out_ += value.digits; }
  void put(double value) {
    if (std::isfinite(value)) {
      write_double(value, out_);
    } else if (!style_.names_infinity) {
      out_ += "null";
    } else {
      out_ += std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
    }
  }
  void put(const std::string& value) { write_quoted(value, out_); }
  void put(const Json::Array& items) {
    out_ += '[';
    std::string_view between;
    for (const Json& item : items) {
      out_ += between;
      write(item);
      between = style_.comma;
    }
    out_ += ']';
  }
  void put(const Json::Object& members) {
    out_ += '{';
    std::string_view between;
    for (const JsonMember& member : members) {
      out_ += between;
      write_quoted(member.key, out_);
      out_ += style_.colon;
      write(member.value);
      between = style_.comma;
    }
    out_ += '}';
  }

  const Style& style_;
  std::string out_;
};

std::string compact_json(const Json& value) {
  JsonWriter writer(kCompact);
  writer.write(value);
  return writer.take();
}

std::string python_json(const Json& value) {
  JsonWriter writer(kPython);
  writer.write(value);
  return writer.take();
}

std::string json_quoted(std::string_view text) {
  std::string out;
  write_quoted(text, out);
  return out;
}

}  // namespace manyspan
