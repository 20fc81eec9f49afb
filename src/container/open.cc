#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include "container/container.h"
#include "container/gguf.h"
#include "container/safetensors.h"
#include "container/shards.h"

namespace manyspan {
namespace {

Result<bool> is_gguf(const std::string& path) {
  const File file = TRY(File::open(path));
  std::array<std::byte, 4> magic{};
  if (file.size() < magic.size()) return false;
  TRY(file.read_at(0, magic));
  return text_of(magic) == "GGUF";
}

bool names_index(const std::string& path) { return path.ends_with(".safetensors.index.json"); }

Result<bool> leads(const std::string& path) {
  std::error_code unreadable;
  if (std::filesystem::is_directory(path, unreadable)) return holds_only_gguf(path);
  if (names_index(path)) return false;
  return path.ends_with(".gguf") || TRY(is_gguf(path));
}

Result<std::vector<Container::Part>> read_parts(const std::string& path) {
  std::error_code unreadable;  // then opening it as a file says why
  if (std::filesystem::is_directory(path, unreadable)) return read_directory(path);
  if (names_index(path)) return read_indexed_shards(path);
  if (path.ends_with(".gguf") || TRY(is_gguf(path))) return read_gguf_model(path);
  std::vector<Container::Part> parts;
  parts.push_back(TRY(read_safetensors(path)));
  return parts;
}

}  // namespace

bool leads_to_gguf(const std::string& path) {
  const Result<bool> answer = leads(path);
  return answer.ok() && answer.value();
}

Result<Container> open_container(const std::string& path) {
  try {
    return Container::join(path, TRY(read_parts(path)));
  } catch (const std::bad_alloc&) {
    return Error(Fault::exhausted, path + ": no memory for its lists");
  } catch (const std::system_error& error) {
    return Error(Fault::not_found, path + ": " + error.what());
  }
}

}  // namespace manyspan
