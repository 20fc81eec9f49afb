#include "convert/convert.h"

#include <filesystem>
#include <new>
#include <sys/stat.h>
#include <utility>

#include "base/crc32c.h"
#include "base/file.h"
#include "convert/beside.h"
#include "convert/files.h"
#include "convert/model_keys.h"
#include "convert/output.h"
#include "convert/places.h"
#include "engine/checkpoint.h"
#include "engine/model_folder.h"

namespace manyspan {
namespace {

constexpr std::uint64_t kMarkEvery = std::uint64_t{1} << 30;

std::vector<std::string> files_read(const Checkpoint& c) {
  std::vector<std::string> files;
  std::error_code unknown;
  const std::string folder = model_folder_of(c.path);
  if (c.container->format() == ContainerFormat::safetensors || std::filesystem::is_directory(c.path, unknown))
    files.push_back(folder);
  for (std::size_t i = 0; i < c.container->files(); ++i) files.push_back(c.container->file_path(i));
  if (c.container->format() == ContainerFormat::safetensors) {
    for (const char* name :
         {"config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json",
          "engram_token_map.json", "model.safetensors.index.json"})
      files.push_back(path_beside(c, name));
  }
  return files;
}

// Parts that are no part of a text model.
void note_left_out(const Checkpoint& c, std::vector<std::string>& notes) {
  for (const Capability part : {Capability::draft, Capability::vision}) {
    if (c.weights.has(part)) notes.push_back("left out: the " + std::string(name(part)) + " model's tensors");
  }
}

class Conversion {
 public:
  Conversion(const Checkpoint& checkpoint, Place place, const ConvertOptions& options)
      : c_(checkpoint), place_(std::move(place)), options_(options) {}

  Result<ConvertReport> run() {
    ConvertPlan plan = TRY(plan_tensors(c_.weights, place_.target, options_.quantize));
    report_.kinds = plan.kinds;
    report_.notes = plan.notes;
    note_left_out(c_, report_.notes);
    if (place_.target == Target::gguf) {
      files_ = TRY(gguf_files(plan, TRY(gguf_keys_of(c_, plan)), options_.shard_bytes));
    } else {
      files_ = TRY(safetensors_files(plan, options_.shard_bytes));
      side_ = TRY(side_files(c_, plan, report_.notes));
      side_.push_back({"model.safetensors.index.json", index_of(files_, place_)});
    }
    for (const ResultFile& file : files_) report_.bytes += file.bytes;
    read_ = known_files(files_read(c_));
    TRY(check_place(place_, files_.size(), read_, options_.overwrite));
    return write();
  }

 private:
  // Of the plan and of the files that are read: what was begun with others is not gone on with.
  std::uint64_t fingerprint() const {
    std::string text;
    for (const ResultFile& file : files_)
      text += std::to_string(file.bytes) + "," + std::to_string(crc32c(bytes_of(file.front))) + ";";
    for (std::size_t i = 0; i < c_.container->files(); ++i) {
      struct stat facts {};
      ::stat(c_.container->file_path(i).c_str(), &facts);
      text += std::to_string(facts.st_ino) + "," + std::to_string(facts.st_size) + "," +
              std::to_string(facts.st_mtim.tv_sec) + "," + std::to_string(facts.st_mtim.tv_nsec) + ";";
    }
    return std::uint64_t{crc32c(bytes_of(text))} << 20 ^ text.size();
  }

  Result<ConvertReport> write() {
    TRY(check_room(place_, report_.bytes));
    Output output = TRY(Output::open(place_.partial(), fingerprint(), options_.restart));
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto from = TRY(output.take_up(place_.file_name(i, files_.size()), options_.cancel));
      if (!from) return std::move(report_);
      report_.resumed_bytes += *from;
      if (!TRY(write_one(output, files_[i], *from))) return std::move(report_);
    }
    for (const SideFile& file : side_) TRY(put(output, file));
    output.keep_only(names());
    TRY(check_result(output));
    TRY(check_place(place_, files_.size(), read_, options_.overwrite));
    TRY(put_in_place(place_, output.files(), files_.size(), options_.overwrite));
    output.remove();
    for (std::size_t i = 0; i < files_.size(); ++i)
      report_.files.push_back(place_.final_path(i, files_.size()));
    for (const SideFile& file : side_) report_.files.push_back(place_.out + "/" + file.name);
    report_.finished = true;
    return std::move(report_);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < files_.size(); ++i) names.push_back(place_.file_name(i, files_.size()));
    for (const SideFile& file : side_) names.push_back(file.name);
    return names;
  }

  // Nothing is put in its place that this program does not open.
  Result<void> check_result(const Output& output) const {
    const bool gguf = place_.target == Target::gguf;
    const auto opened =
        Checkpoint::open(gguf ? output.path(place_.file_name(0, files_.size())) : output.files());
    if (opened.ok()) return {};
    return Error(Fault::unsupported,
                 place_.out + ": not written, since it would not open: " + opened.error().message());
  }

  // False where it was cancelled.
  Result<bool> write_one(Output& output, const ResultFile& file, std::uint64_t from) {
    std::uint64_t marked = from, here = from;
    bool cancelled = false;
    done_ += from;
    const auto put = [&](Bytes bytes) -> Result<bool> {
      TRY(output.append(bytes));
      here += bytes.size(), done_ += bytes.size();
      if (options_.progress) options_.progress({done_, report_.bytes});
      if (here - marked >= kMarkEvery) {
        TRY(output.mark());
        marked = here;
      }
      cancelled = options_.cancel != nullptr && options_.cancel->requested();
      return !cancelled;
    };
    TRY(make_file(c_.weights, file, from, put));
    TRY(output.mark());
    return !cancelled;
  }

  Result<void> put(Output& output, const SideFile& file) {
    auto written = write_file_atomically(output.path(file.name), bytes_of(file.text));
    if (!written.ok()) return Error(Fault::exhausted, written.error().message());
    return {};
  }

  const Checkpoint& c_;
  Place place_;
  const ConvertOptions& options_;
  std::vector<ResultFile> files_;
  std::vector<SideFile> side_;
  std::vector<ReadFile> read_;
  ConvertReport report_;
  std::uint64_t done_ = 0;
};

}  // namespace

Result<ConvertReport> convert(const std::string& in, const std::string& out, const ConvertOptions& options) {
  try {
    Place place = TRY(place_of(out));
    const auto checkpoint = TRY(Checkpoint::open(in, options.cancel));
    return Conversion(*checkpoint, std::move(place), options).run();
  } catch (const std::bad_alloc&) {
    return Error(Fault::exhausted, in + ": no memory to convert it");
  }
}

}  // namespace manyspan
