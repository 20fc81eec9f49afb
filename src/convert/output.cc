#include "convert/output.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/file_error.h"
#include "base/json.h"
#include "base/write_through.h"

namespace manyspan {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostJournal = 64 << 20;
constexpr std::string_view kHead = "{\"manyspan_convert\":1";

Result<void> make_folder(const std::string& path) {
  std::error_code fault;
  fs::create_directories(path, fault);
  if (fault) return Error(Fault::exhausted, path + ": cannot make it: " + fault.message());
  return {};
}

Error failed(const std::string& path, const char* doing) {
  return Error(Fault::exhausted, file_error(path, doing, errno).message());
}

bool cancelled(const Cancel* cancel) { return cancel != nullptr && cancel->requested(); }

// Of the first `bytes` of a file; other than that where they cannot be read.
Result<std::uint32_t> sum_of(const std::string& path, std::uint64_t bytes, const Cancel* cancel) {
  const File file = TRY(File::open(path));
  std::vector<std::byte> block(std::size_t{4} << 20);
  std::uint32_t sum = 0;
  for (std::uint64_t done = 0; done < bytes && !cancelled(cancel);) {
    const std::span part = std::span(block).first(std::min<std::uint64_t>(block.size(), bytes - done));
    TRY(file.read_at(done, part));
    sum = crc32c(part, sum);
    done += part.size();
  }
  return sum;
}

std::string head_of(std::uint64_t plan) {
  return std::string(kHead) + ",\"plan\":" + std::to_string(plan) + "}";
}

// A link would lead to what is somebody else's, perhaps to the input.
Result<void> no_link(const std::string& path, bool folder) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) return {};  // then it is made
  if (folder ? S_ISDIR(found.st_mode) : S_ISREG(found.st_mode) && found.st_nlink == 1) return {};
  return Error(Fault::invalid, path + ": is no " + (folder ? "folder" : "file") +
                                   " of a conversion alone, but a link or something else; move it away");
}

// Whether a conversion left the folder: the first line of its journal says so, or did not come to the disk.
Result<bool> left_by_us(const std::string& folder) {
  const auto text = read_file(folder + "/journal", kMostJournal);
  if (!text.ok() && text.error().fault() == Fault::not_found) return false;
  if (!text.ok()) return text.error();
  if (text.value().starts_with(kHead)) return true;
  std::error_code unknown;
  const std::string files = folder + "/files";
  return kHead.starts_with(text.value()) && (!fs::exists(files, unknown) || fs::is_empty(files, unknown));
}

}  // namespace

Result<Output> Output::open(const std::string& folder, std::uint64_t plan, bool restart) {
  const std::string journal = folder + "/journal";
  TRY(no_link(folder, true));
  TRY(no_link(folder + "/files", true));
  TRY(no_link(journal, false));
  std::error_code unknown;
  const bool ours = TRY(left_by_us(folder));
  if (fs::exists(folder, unknown) && !ours && !fs::is_empty(folder, unknown)) {
    return Error(Fault::invalid, folder + ": is there, and no conversion left it; move it away");
  }
  TRY(make_folder(folder + "/files"));
  Output output(folder);
  output.journal_ = ::open(journal.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (output.journal_ < 0) return failed(journal, "cannot write");
  if (::flock(output.journal_, LOCK_EX | LOCK_NB) != 0)
    return Error(Fault::invalid, folder + ": another process is converting into it");
  if (restart && ours) {
    fs::remove_all(output.files(), unknown);
    TRY(make_folder(output.files()));
    if (::ftruncate(output.journal_, 0) != 0) return failed(journal, "cannot write");
  }
  TRY(output.read_journal(plan));
  return output;
}

Output::~Output() {
  if (file_ >= 0) ::close(file_);
  if (journal_ >= 0) ::close(journal_);
}

Output::Output(Output&& other) noexcept
    : folder_(std::move(other.folder_)),
      journal_(std::exchange(other.journal_, -1)),
      file_(std::exchange(other.file_, -1)),
      marks_(std::move(other.marks_)),
      name_(std::move(other.name_)),
      done_(other.done_),
      sum_(other.sum_) {}

// A line that was cut off, as the last one may be, ends the reading.
Result<void> Output::read_journal(std::uint64_t plan) {
  const std::string path = folder_ + "/journal", text = TRY(read_file(path, kMostJournal));
  if (text.empty()) return write_line(head_of(plan));
  std::size_t at = 0;
  for (bool first = true;; first = false) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (first) {
      if (line == head_of(plan)) continue;
      return Error(
          Fault::invalid,
          folder_ +
              ": holds an unfinished conversion of another input or with other options; finish it as "
              "it was begun, or give --restart to throw it away");
    }
    const auto mark = parse_json(line);
    if (!mark.ok()) break;
    const Json *file = mark.value().find("file"), *bytes = mark.value().find("bytes"),
               *sum = mark.value().find("crc32c");
    if (file == nullptr || file->string() == nullptr || bytes == nullptr || !bytes->natural() ||
        sum == nullptr || !sum->natural())
      break;
    marks_[*file->string()] = {*bytes->natural(), static_cast<std::uint32_t>(*sum->natural())};
  }
  if (at == 0) {  // not even the first line came to the disk
    if (::ftruncate(journal_, 0) != 0) return failed(path, "cannot write");
    return write_line(head_of(plan));
  }
  if (at < text.size() && ::ftruncate(journal_, static_cast<off_t>(at)) != 0)
    return failed(path, "cannot write");
  return {};
}

Result<void> Output::write_line(const std::string& line) {
  TRY(write_all(folder_ + "/journal", journal_, bytes_of(line + "\n")));
  if (::fsync(journal_) != 0) return failed(folder_ + "/journal", "cannot write");
  return {};
}

Result<std::optional<std::uint64_t>> Output::take_up(const std::string& name, const Cancel* cancel) {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  name_ = name;
  done_ = 0, sum_ = 0;
  if (const auto mark = marks_.find(name); mark != marks_.end()) {
    const auto found = sum_of(path(name), mark->second.bytes, cancel);
    if (cancelled(cancel)) return std::optional<std::uint64_t>();
    if (found.ok() && found.value() == mark->second.sum) done_ = mark->second.bytes, sum_ = mark->second.sum;
  }
  TRY(no_link(path(name), false));
  file_ = ::open(path(name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file_ < 0) return failed(path(name), "cannot write");
  if (::ftruncate(file_, static_cast<off_t>(done_)) != 0 || ::lseek(file_, 0, SEEK_END) < 0)
    return failed(path(name), "cannot write");
  return std::optional(done_);
}

Result<void> Output::append(Bytes bytes) {
  auto written = write_all(path(name_), file_, bytes);
  if (!written.ok()) return Error(Fault::exhausted, written.error().message());
  sum_ = crc32c(bytes, sum_);
  done_ += bytes.size();
  return {};
}

Result<void> Output::mark() {
  if (::fsync(file_) != 0) return failed(path(name_), "cannot write");
  const Mark& last = marks_[name_];
  if (last.bytes == done_ && last.sum == sum_ && done_ > 0) return {};
  marks_[name_] = {done_, sum_};
  return write_line("{\"file\":" + json_quoted(name_) + ",\"bytes\":" + std::to_string(done_) +
                    ",\"crc32c\":" + std::to_string(sum_) + "}");
}

void Output::keep_only(const std::vector<std::string>& names) const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(files(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (std::find(names.begin(), names.end(), name) == names.end()) fs::remove(entry.path(), ignored);
  }
}

void Output::remove() {
  std::error_code ignored;
  fs::remove(folder_ + "/files", ignored);
  fs::remove(folder_ + "/journal", ignored);
  fs::remove(folder_, ignored);
}

}  // namespace manyspan
