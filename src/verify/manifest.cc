#include "verify/manifest.h"

#include <optional>
#include <set>

namespace manyspan {
namespace {

constexpr std::size_t kDigits = 64;
constexpr std::size_t kMostFiles = std::size_t{1} << 20;

std::optional<std::string> lower_hex(std::string_view text) {
  std::string lower;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      lower += c;
    } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
      lower += static_cast<char>(c | 0x20);
    } else {
      return std::nullopt;
    }
  }
  return lower;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      name += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    const char c = text[i];
    if (c != '\\' && c != 'n' && c != 'r') return std::nullopt;
    name += c == 'n' ? '\n' : c == 'r' ? '\r' : '\\';
  }
  return name;
}

// What keeps a name from being one of a file in the folder; empty: nothing.
std::string_view fault_of(std::string_view name) {
  if (name.empty()) return "an empty name";
  if (name.front() == '/') return "an absolute name";
  if (name.find('\0') != name.npos) return "a zero byte in a name";
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (name.substr(at, end - at) == "..") return "a name that leads out of the folder";
    at = end + 1;
  }
  return {};
}

Result<ManifestEntry> parse_line(std::string_view line) {
  const bool escaped = line.starts_with('\\');
  if (escaped) line.remove_prefix(1);
  const auto hex = line.size() > kDigits + 2 ? lower_hex(line.substr(0, kDigits)) : std::nullopt;
  if (!hex || line[kDigits] != ' ' || (line[kDigits + 1] != ' ' && line[kDigits + 1] != '*'))
    return Error(Fault::corrupt, "expected 64 hexadecimal digits, two blanks and a name");
  const std::string_view rest = line.substr(kDigits + 2);
  const auto name = escaped ? unescaped(rest) : std::string(rest);
  if (!name) return Error(Fault::corrupt, "a backslash before neither 'n', 'r' nor another");
  if (const std::string_view fault = fault_of(*name); !fault.empty())
    return Error(Fault::corrupt, std::string(fault) + ": \"" + *name + "\"");
  return ManifestEntry{*hex, *name};
}

}  // namespace

Result<std::vector<ManifestEntry>> parse_manifest(std::string_view text) {
  std::vector<ManifestEntry> entries;
  std::set<std::string> names;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    const std::string place = "line " + std::to_string(number);
    auto entry = parse_line(line);
    if (!entry.ok()) return std::move(entry).error().within(place);
    if (!names.insert(entry.value().name).second)
      return Error(Fault::corrupt, place + ": \"" + entry.value().name + "\" a second time");
    if (entries.size() == kMostFiles)
      return Error(Fault::corrupt, place + ": over " + std::to_string(kMostFiles) + " files");
    entries.push_back(std::move(entry).value());
  }
  if (entries.empty()) return Error(Fault::corrupt, "no file is named in it");
  return entries;
}

std::string manifest_text(const std::vector<ManifestEntry>& entries) {
  std::string text;
  for (const ManifestEntry& entry : entries) {
    std::string name;
    for (const char c : entry.name) {
      if (c == '\\') {
        name += "\\\\";
      } else if (c == '\n') {
        name += "\\n";
      } else if (c == '\r') {
        name += "\\r";
      } else {
        name += c;
      }
    }
    if (name != entry.name) text += '\\';
    text += entry.hex + "  " + name + "\n";
  }
  return text;
}

}  // namespace manyspan
