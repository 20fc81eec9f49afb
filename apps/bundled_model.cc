#include "apps/bundled_model.h"

#include <filesystem>

namespace manyspan::app {

std::string bundled_model() {
  namespace fs = std::filesystem;
  std::error_code absent;
  const fs::path source = fs::path(MANYSPAN_SOURCE_DIR) / "models" / "first-light";
  if (fs::is_directory(source, absent)) return source.string();
  const fs::path program = fs::read_symlink("/proc/self/exe", absent);
  return (program.parent_path().parent_path() / "share" / "manyspan" / "first-light").string();
}

}  // namespace manyspan::app
