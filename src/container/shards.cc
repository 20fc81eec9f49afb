#include "container/shards.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "container/gguf.h"
#include "container/safetensors.h"
#include "container/shard_index.h"

namespace manyspan {
namespace {

using Parts = std::vector<Container::Part>;

constexpr std::string_view kSuffix = ".safetensors";

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  // A link to nothing is there: opening it then says what is wrong.
  return std::filesystem::symlink_status(path, error).type() > std::filesystem::file_type::not_found;
}

// Names of the directory's files with this suffix, ascending. Hidden ones are other programs' notes.
Result<std::vector<std::string>> names_in(const std::string& directory, std::string_view suffix) {
  std::error_code error;
  std::vector<std::string> names;
  std::filesystem::directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.ends_with(suffix) && !name.starts_with('.')) names.push_back(std::move(name));
  }
  if (error) return Error(Fault::not_found, directory + ": " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

// "model-00002-of-00048.safetensors" belongs to the set "model-#-of-00048.safetensors"; empty for another name.
std::string set_of(std::string_view name) {
  const std::size_t of = name.rfind("-of-");
  if (of == std::string_view::npos || !name.ends_with(kSuffix)) return {};
  const std::size_t dash = name.substr(0, of).rfind('-');
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::string_view total = name.substr(of + 4, name.size() - kSuffix.size() - (of + 4));
  if (dash == std::string_view::npos || !digits(name.substr(dash + 1, of - dash - 1)) || !digits(total))
    return {};
  return std::string(name.substr(0, dash)) + "-#" + std::string(name.substr(of));
}

Result<void> check_holds(const Container::Part& part, const std::vector<std::string>& wanted,
                         const std::string& index_path) {
  std::set<std::string_view> held;
  for (const StoredTensor& tensor : part.tensors) held.insert(tensor.name);
  for (const std::string& name : wanted) {
    if (held.contains(name)) continue;
    return Error(Fault::corrupt, index_path + ": tensor " + json_quoted(name) + " is said to be in " +
                                     part.file.path() + ", which has no such tensor among its " +
                                     std::to_string(held.size()));
  }
  return {};
}

// A file of the set that the index leaves out may be spare, but not hold a tensor once more.
Result<void> check_left_out(const std::string& directory, const ShardIndex& index, const Parts& parts) {
  std::set<std::string> sets;
  for (const auto& [file, tensors] : index) sets.insert(set_of(file));
  sets.erase("");
  if (sets.empty()) return {};
  for (const std::string& name : TRY(names_in(directory, kSuffix))) {
    if (index.contains(name) || !sets.contains(set_of(name))) continue;
    const Container::Part extra = TRY(read_safetensors((std::filesystem::path(directory) / name).string()));
    std::set<std::string_view> held;
    for (const StoredTensor& tensor : extra.tensors) held.insert(tensor.name);
    for (const Container::Part& part : parts) {
      for (const StoredTensor& tensor : part.tensors) {
        if (!held.contains(tensor.name)) continue;
        return Error(Fault::corrupt,
                     part.file.path() + ": tensor " + tensor.name + " is also in " + extra.file.path());
      }
    }
  }
  return {};
}

Result<Parts> read_all(const std::string& directory) {
  const std::vector<std::string> names = TRY(names_in(directory, kSuffix));
  if (names.empty()) {
    const std::vector<std::string> ggufs = TRY(names_in(directory, ".gguf"));
    if (!ggufs.empty()) return read_gguf_of(directory, ggufs);
    return Error(Fault::not_found, directory + ": no *.safetensors or *.gguf file in it");
  }
  Parts parts;
  for (const std::string& name : names)
    parts.push_back(TRY(read_safetensors((std::filesystem::path(directory) / name).string())));
  return parts;
}

}  // namespace

Result<Parts> read_indexed_shards(const std::string& index_path) {
  const ShardIndex index = TRY(read_shard_index(index_path));
  const std::filesystem::path directory = std::filesystem::path(index_path).parent_path();
  Parts parts;
  for (const auto& [file, tensors] : index) {
    const std::string path = (directory / file).string();
    if (!is_there(path)) {
      return Error(Fault::not_found, index_path + ": tensor " + json_quoted(tensors.front()) +
                                         " is said to be in " + file + ", a shard that is missing");
    }
    parts.push_back(TRY(read_safetensors(path)));
    TRY(check_holds(parts.back(), tensors, index_path));
  }
  TRY(check_left_out(directory.empty() ? "." : directory.string(), index, parts));
  return parts;
}

Result<bool> holds_only_gguf(const std::string& directory) {
  if (is_there(std::filesystem::path(directory) / kIndexName)) return false;
  return TRY(names_in(directory, kSuffix)).empty() && !TRY(names_in(directory, ".gguf")).empty();
}

Result<Parts> read_directory(const std::string& directory) {
  const std::filesystem::path index = std::filesystem::path(directory) / kIndexName;
  if (is_there(index)) return read_indexed_shards(index.string());
  const std::filesystem::path single = std::filesystem::path(directory) / "model.safetensors";
  if (!is_there(single)) return read_all(directory);
  Parts parts;
  parts.push_back(TRY(read_safetensors(single.string())));
  return parts;
}

}  // namespace manyspan
