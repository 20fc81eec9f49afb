// convert_trial — for tests: conversions that must succeed, and what they made.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "convert/convert.h"
#include "engine/checkpoint.h"

#ifdef MANYSPAN_SOURCE_DIR

namespace manyspan {

inline const std::string kTinyModel = MANYSPAN_SOURCE_DIR "/tests/data/t1_base",
                         kBundledModel = MANYSPAN_SOURCE_DIR "/models/first-light";

inline ConvertReport converted(const std::string& in, const std::string& out,
                               const ConvertOptions& options = {}) {
  auto report = convert(in, out, options);
  EXPECT_TRUE(report.ok()) << report.error().message();
  return report.ok() ? report.value() : ConvertReport{};
}

inline std::string refused(const std::string& in, const std::string& out,
                           const ConvertOptions& options = {}) {
  auto report = convert(in, out, options);
  return report.ok() ? "accepted" : report.error().message();
}

inline std::string whole_file(const std::string& path) {
  return read_file(path, std::uint64_t{1} << 30).value();
}

// Every file of a folder by its name.
inline std::map<std::string, std::string> whole_folder(const std::string& path) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    files[entry.path().filename().string()] = whole_file(entry.path().string());
  return files;
}

// The model's files in a folder that can be changed.
inline std::string copy_of_model(const std::string& model, const std::string& to) {
  std::filesystem::copy(model, to, std::filesystem::copy_options::recursive);
  return to;
}

}  // namespace manyspan

#endif
