#include "apps/output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/model_files.h"
#include "apps/status.h"
#include "container/container.h"

namespace manyspan::app {
namespace {

// Weights as the container names them, and the files that an official folder has beside them.
std::vector<std::string> files_of(const std::string& model) {
  std::vector<std::string> files = {model};
  const Result<std::string> folder = model_folder(model);
  if (!folder.ok()) return files;
  for (const char* name : {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json",
                           "model.safetensors.index.json"}) {
    files.push_back(folder.value() + "/" + name);
  }
  // A model that can't be opened is refused soon, in better words.
  const Result<Container> container = open_container(model);
  for (std::size_t i = 0; container.ok() && i < container.value().files(); ++i) {
    files.push_back(container.value().file_path(i));
  }
  return files;
}

}  // namespace

Result<void> may_be_written(const std::string& what, const std::string& path, const std::string& model,
                            const std::vector<std::string>& read) {
  struct stat target {};
  if (stat(path.c_str(), &target) != 0) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0 || path.empty()) return {};
    return Error(Fault::exhausted, fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
  }
  if (S_ISDIR(target.st_mode)) return Error(Fault::exhausted, path + ": cannot write: a directory");
  const auto same = [&](const std::string& other) {
    struct stat facts {};
    return !other.empty() && stat(other.c_str(), &facts) == 0 && facts.st_dev == target.st_dev &&
           facts.st_ino == target.st_ino;
  };
  for (const std::string& file : read) {
    if (same(file)) return misuse(fmt::format("{}: {} is also read: it would be replaced", what, path));
  }
  for (const std::string& file : files_of(model)) {
    if (same(file)) {
      return misuse(fmt::format("{}: {} is a file of the model: it would be replaced", what, path));
    }
  }
  return {};
}

Result<void> of_writing(Result<void> written) {
  if (written.ok()) return written;
  return Error(Fault::exhausted, written.error().message());
}

}  // namespace manyspan::app
