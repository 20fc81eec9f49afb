#include "weights/directory.h"

#include "weights/names_gguf.h"
#include "weights/names_hf.h"

namespace manyspan {

Result<Directory> Directory::of(const Container& container, std::int32_t layers) {
  const bool gguf = container.format() == ContainerFormat::gguf;
  std::vector<std::string_view> names;
  for (const StoredTensor& tensor : container.tensors()) names.push_back(tensor.name);
  const std::string_view space = hf_namespace(names).value_or("");
  Directory directory(container);
  for (const StoredTensor& tensor : container.tensors()) {
    const std::string official = gguf ? gguf_official(tensor.name, layers) : hf_official(tensor.name, space);
    if (hf_only_in_v4(official)) {
      return Error(Fault::unsupported,
                   container.place(tensor) + ": only DeepSeek-V4 has this tensor; this program runs V4.1");
    }
    const auto [entry, added] = directory.tensors_.try_emplace(official, Entry{&tensor});
    if (!added) {
      return Error(Fault::corrupt,
                   container.place(tensor) + ": the same weight as tensor " + entry->second.tensor->name);
    }
  }
  return directory;
}

const StoredTensor* Directory::find(std::string_view official) const {
  const auto entry = tensors_.find(official);
  return entry == tensors_.end() ? nullptr : entry->second.tensor;
}

const StoredTensor* Directory::take(std::string_view official) {
  const auto entry = tensors_.find(official);
  if (entry == tensors_.end()) return nullptr;
  entry->second.taken = true;
  return entry->second.tensor;
}

std::vector<std::string_view> Directory::left() const {
  std::vector<std::string_view> names;
  for (const auto& [name, entry] : tensors_) {
    if (!entry.taken) names.push_back(name);
  }
  return names;
}

}  // namespace manyspan
