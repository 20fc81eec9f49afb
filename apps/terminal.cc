#include "apps/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace manyspan::app {

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

int terminal_columns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string harmless(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c0 = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    // U+0080 to U+009F, as UTF-8.
    const bool c1 = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c0 || c1) {
      shown += "\uFFFD";
      if (c1) ++i;
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace manyspan::app
