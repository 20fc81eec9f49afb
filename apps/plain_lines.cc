#include <cerrno>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include "apps/line_input.h"
#include "apps/streams.h"
#include "apps/terminal.h"

namespace manyspan::app {
namespace {

class PlainLines final : public LineInput {
 public:
  Result<Line> next(const Cancel& cancel) override {
    return joined_lines([&](bool) { return read_line(cancel); });
  }
  bool interactive() const override { return false; }

 private:
  Result<Line> read_line(const Cancel& cancel) {
    std::size_t looked = 0;
    while (true) {
      const std::size_t end = held_.find('\n', looked);
      if (end != std::string::npos) return taken(end, end + 1);
      looked = held_.size();
      if (ended_) return held_.empty() ? Line{Line::Kind::end, ""} : taken(held_.size(), held_.size());
      if (held_.size() > kMaxTextBytes) {
        return Error(Fault::corrupt, fmt::format("standard input: a line of over {} bytes", kMaxTextBytes));
      }
      if (cancel.requested()) return Line{Line::Kind::interrupted, ""};
      TRY(read_more());
    }
  }

  Result<void> read_more() {
    char block[65536];
    const ssize_t got = read(STDIN_FILENO, block, sizeof block);
    if (got > 0) held_.append(block, static_cast<std::size_t>(got));
    if (got == 0) ended_ = true;
    if (got >= 0 || errno == EINTR) return {};
    if (errno == EAGAIN) {
      pollfd wait{STDIN_FILENO, POLLIN, 0};
      poll(&wait, 1, -1);
      return {};
    }
    return Error(Fault::not_found, stream_error("standard input", errno));
  }

  Line taken(std::size_t length, std::size_t gone) {
    Line line{Line::Kind::text, held_.substr(0, length)};
    held_.erase(0, gone);
    if (line.text.ends_with('\r')) line.text.pop_back();
    return line;
  }

  std::string held_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<LineInput> plain_lines() { return std::make_unique<PlainLines>(); }

std::unique_ptr<LineInput> line_input() {
  std::unique_ptr<LineInput> editor;
  if (is_terminal(STDIN_FILENO) && is_terminal(STDERR_FILENO)) editor = line_editor();
  return editor ? std::move(editor) : plain_lines();
}

}  // namespace manyspan::app
