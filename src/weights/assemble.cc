#include "weights/assemble.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "container/shards.h"
#include "spec/precision.h"
#include "weights/directory.h"
#include "weights/matrix.h"
#include "weights/names_gguf.h"
#include "weights/names_hf.h"

namespace manyspan {

namespace {
constexpr std::string_view kUnexpected = "unexpected; the model has no such weight";
}

class Assembly {
 public:
  Assembly(const Container& container, const Blueprint& blueprint, const AssembleOptions& options,
           Directory directory)
      : container_(container), blueprint_(blueprint), options_(options), directory_(std::move(directory)) {}

  Result<Weights> run() {
    for (Some* some : {&wrong_, &missing_, &unexpected_, &without_images_})
      some->all = options_.faults != nullptr;
    weights_.container_ = &container_;
    weights_.slots_ = slots_of(blueprint_);
    weights_.places_.resize((static_cast<std::size_t>(blueprint_.layers) + 1) * kRoles);
    weights_.has_[static_cast<std::size_t>(Capability::text)] = true;
    for (const Slot& slot : weights_.slots_) {
      if (options_.cancel != nullptr && options_.cancel->requested())
        return Error(Fault::invalid, "cancelled");
      fill(slot);
    }
    one_kind_of_float_scales();
    note_concerns();
    images_whole_or_not_at_all();
    account_for_the_rest();
    if (wrong_.count + missing_.count + unexpected_.count > 0) return faults();
    return std::move(weights_);
  }

 private:
  // Of a kind of fault the first few, or all, and how many there are.
  struct Some {
    static constexpr std::size_t kMostNamed = 8;
    bool all = false;  // name them all
    std::vector<std::string> named{};
    std::int64_t count = 0;

    void add(std::string what) {
      if (all || named.size() < kMostNamed) named.push_back(std::move(what));
      ++count;
    }
  };

  void fill(const Slot& slot) {
    Weights::Place& place = weights_.places_[weights_.index(slot.role, slot.layer)];
    const auto first = static_cast<std::int64_t>(weights_.sources_.size());
    const bool experts =
        slot.role == Role::expert_w1 || slot.role == Role::expert_w2 || slot.role == Role::expert_w3;
    const std::string whole = hf_name(slot.role, slot.layer);
    if (!experts) {
      read(slot, whole, 0);
    } else if (directory_.find(whole) != nullptr || container_.format() == ContainerFormat::gguf) {
      read(slot, whole, slot.matrices);
    } else {
      for (std::int32_t e = 0; e < slot.matrices; ++e) read(slot, hf_name(slot.role, slot.layer, e), 0);
    }
    const std::int64_t count = static_cast<std::int64_t>(weights_.sources_.size()) - first;
    if (count == slot.matrices) place = {first, slot.matrices};
  }

  void read(const Slot& slot, const std::string& official, std::int32_t merged) {
    if (directory_.find(official) == nullptr) {
      if (slot.capability == Capability::images) return without_images_.add(stored_name(slot, official));
      take_scales(official);
      return missing_.add(stored_name(slot, official) + " (" + std::string(name(slot.role)) + ")");
    }
    if (slot.capability == Capability::images) ++with_images_;
    auto sources =
        read_matrices(directory_, official, {slot, blueprint_.quantization, merged, options_.scan});
    if (!sources.ok()) {
      if (wrong_.count == 0) fault_ = sources.error().fault();
      return wrong_.add(sources.error().message());
    }
    for (MatrixSource& source : std::move(sources).value()) weights_.sources_.push_back(std::move(source));
  }

  // Matrices with F32 scales have one encoding, so that kernels find experts alike: where one's scales are no powers
  // of two, all count as such.
  void one_kind_of_float_scales() {
    std::vector<MatrixSource>& all = weights_.sources_;
    const auto free = [](const MatrixSource& m) { return m.encoding == Encoding::fp8_block128_f32; };
    if (std::none_of(all.begin(), all.end(), free)) return;
    for (MatrixSource& m : all) {
      if (m.encoding == Encoding::fp8_block128 && m.scale_type == ScaleType::f32)
        m.encoding = Encoding::fp8_block128_f32;
    }
  }

  // One sentence for each role and encoding, whatever the number of layers.
  void note_concerns() {
    std::map<std::pair<Role, Encoding>, std::vector<const MatrixSource*>> concerning;
    for (const Slot& slot : weights_.slots_) {
      for (std::int32_t e = 0; e < slot.matrices; ++e) {
        const MatrixSource* m = weights_.find(slot.role, slot.layer, e);
        if (m != nullptr && !concern(slot.role, m->encoding).empty())
          concerning[{slot.role, m->encoding}].push_back(m);
      }
    }
    for (const auto& [kind, matrices] : concerning) {
      const auto [role, encoding] = kind;
      std::string text = matrices[0]->place;
      if (matrices.size() > 1) text += " and " + std::to_string(matrices.size() - 1) + " more";
      weights_.warnings_.push_back(text + ": " + std::string(name(role)) + " stored as " +
                                   std::string(name(encoding)) + ": " + std::string(concern(role, encoding)));
    }
  }

  // As a person finds it in the files: a GGUF has all experts in one tensor.
  std::string stored_name(const Slot& slot, const std::string& official) const {
    if (container_.format() != ContainerFormat::gguf) return official;
    return gguf_name(slot.role, slot.layer);
  }

  // Scales whose weight is missing would seem unexpected.
  void take_scales(const std::string& official) {
    constexpr std::string_view kWeight = ".weight";
    if (!official.ends_with(kWeight)) return;
    const std::string stem = official.substr(0, official.size() - kWeight.size());
    for (const std::string_view suffix : hf_scale_suffixes()) directory_.take(stem + std::string(suffix));
  }

  void images_whole_or_not_at_all() {
    if (with_images_ == 0) return;
    weights_.has_[static_cast<std::size_t>(Capability::images)] = true;
    for (const std::string& name : without_images_.named) missing_.add(name + " (other layers have theirs)");
  }

  void account_for_the_rest() {
    for (const std::string_view official : directory_.left()) {
      const std::optional<Capability> part = hf_capability(official);
      if (part) {
        weights_.has_[static_cast<std::size_t>(*part)] = true;
      } else {
        const StoredTensor& tensor = *directory_.find(official);
        if (unexpected_.count == 0) first_unexpected_ = &tensor;
        unexpected_.add(tensor.name);
      }
    }
  }

  // Where a tensor that is missing was looked for: the index, else the one file, else the folder.
  std::string looked_in() const {
    const std::filesystem::path path = container_.path();
    std::error_code unknown;
    if (!std::filesystem::is_directory(path, unknown)) return path.string();
    if (std::filesystem::exists(path / kIndexName, unknown)) return (path / kIndexName).string();
    return container_.files() == 1 ? container_.file_path(0) : path.string();
  }

  static void tell(std::string& message, const Some& some, const std::string& kind) {
    if (some.count == 0) return;
    if (!message.empty()) message += "; ";
    message += std::to_string(some.count) + " " + kind + ": ";
    const std::size_t told = std::min(some.named.size(), Some::kMostNamed);
    for (std::size_t i = 0; i < told; ++i) message += (i == 0 ? "" : ", ") + some.named[i];
    const std::int64_t more = some.count - static_cast<std::int64_t>(told);
    if (more > 0) message += " and " + std::to_string(more) + " more";
  }

  std::string the_only_one() const {
    if (wrong_.count == 1) return wrong_.named[0];
    if (missing_.count == 1) return looked_in() + ": missing tensor " + missing_.named[0];
    return container_.place(*first_unexpected_) + ": " + std::string(kUnexpected);
  }

  // Each as it would be told if it stood alone.
  void tell_apart(std::vector<std::string>& faults) const {
    faults.insert(faults.end(), wrong_.named.begin(), wrong_.named.end());
    for (const std::string& name : missing_.named) faults.push_back(looked_in() + ": missing tensor " + name);
    for (const std::string& name : unexpected_.named)
      faults.push_back(container_.place(*container_.find(name)) + ": " + std::string(kUnexpected));
  }

  Error faults() const {
    if (options_.faults != nullptr) tell_apart(*options_.faults);
    if (wrong_.count + missing_.count + unexpected_.count == 1) return Error(fault_, the_only_one());
    std::string message;
    const std::string file = looked_in();
    tell(message, wrong_, "wrong");
    tell(message, missing_, file == container_.path() ? "missing" : "missing from " + file);
    tell(message, unexpected_, "unexpected");
    return Error(fault_, container_.path() + ": " + message);
  }

  const Container& container_;
  const Blueprint& blueprint_;
  const AssembleOptions& options_;
  Directory directory_;
  Weights weights_;
  Some wrong_, missing_, unexpected_, without_images_;
  const StoredTensor* first_unexpected_ = nullptr;
  std::int64_t with_images_ = 0;
  Fault fault_ = Fault::corrupt;  // of the first that is wrong
};

Result<Weights> assemble(const Container& container, const Blueprint& blueprint,
                         const AssembleOptions& options) {
  return Assembly(container, blueprint, options, TRY(Directory::of(container, blueprint.layers))).run();
}

}  // namespace manyspan
