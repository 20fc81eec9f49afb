// Writes what tools/fuzz_seeds.py cannot make itself: GGUFs of both families, and sessions of the small model.
//
//   write_fuzz_models FOLDER
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "engine/checkpoint.h"
#include "engine/gguf_trial.h"
#include "session/snapshot_format.h"

namespace manyspan {
namespace {

// Tokens of id 1, all else zeros.
void write_session(const std::string& path, const Blueprint& blueprint, std::int64_t tokens) {
  const std::vector<SnapshotSection> sections = snapshot_sections(blueprint, tokens);
  std::vector<std::byte> bytes(static_cast<std::size_t>(snapshot_bytes(sections)));
  const auto header = write_header({tokens, snapshot_bytes(sections), {7, 9, "cpu"}});
  std::copy(header.begin(), header.end(), bytes.begin());
  std::size_t at = header.size();
  for (const SnapshotSection& section : sections) {
    const auto length = static_cast<std::size_t>(section.bytes());
    seal(section, std::span(bytes).subspan(at, length));
    at += length;
  }
  CHECK(write_file_atomically(path, Bytes(bytes)).ok(), "the folder is writable");
}

void write_all(const std::string& folder) {
  const std::string small = MANYSPAN_SOURCE_DIR "/tests/data/t1_base",
                    bundled = MANYSPAN_SOURCE_DIR "/models/first-light";
  const auto model = Checkpoint::open(small).value(), spoken = Checkpoint::open(bundled).value();
  for (const bool second : {false, true}) {
    const std::string family = second ? "second" : "own";
    write_as_gguf(small, *model, folder + "/small_" + family, second);
    write_as_gguf(bundled, *spoken, folder + "/bundled_" + family, second);
  }
  for (const std::int64_t tokens : {0, 1, 5, 20})
    write_session(folder + "/session_" + std::to_string(tokens), model->blueprint, tokens);
}

}  // namespace
}  // namespace manyspan

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "write_fuzz_models FOLDER\n");
    return 2;
  }
  manyspan::write_all(arguments[1]);
}
