#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <histedit.h>
#include <langinfo.h>
#include <string_view>
#include <unistd.h>

#include "apps/line_input.h"
#include "base/utf8.h"

namespace manyspan::app {
namespace {

constexpr int kRemembered = 1000;
constexpr std::size_t kMostPasted = std::size_t{4} << 20;  // characters

// Editing needs to know how wide characters are.
void use_utf8() {
  if (std::setlocale(LC_CTYPE, "") != nullptr && std::string_view(nl_langinfo(CODESET)) == "UTF-8") return;
  std::setlocale(LC_CTYPE, "C.UTF-8");
}

std::string utf8(std::wstring_view wide) {
  std::string text;
  for (const wchar_t c : wide) append_utf8(text, static_cast<char32_t>(c));
  return text;
}

// Makes a change of the window's size, and coming back from the background, wake up a read.
class WakingSignals {
 public:
  WakingSignals() {
    struct sigaction wake {};
    wake.sa_handler = [](int) {};
    sigemptyset(&wake.sa_mask);
    sigaction(SIGWINCH, &wake, &window_);
    sigaction(SIGCONT, &wake, &resumed_);
  }
  ~WakingSignals() {
    sigaction(SIGWINCH, &window_, nullptr);
    sigaction(SIGCONT, &resumed_, nullptr);
  }

 private:
  struct sigaction window_ {
  }, resumed_{};
};

class LineEditor final : public LineInput {
 public:
  LineEditor(EditLine* editor, HistoryW* history) : editor_(editor), history_(history) {
    HistEventW event;
    history_w(history_, &event, H_SETSIZE, kRemembered);
    history_w(history_, &event, H_SETUNIQUE, 1);
    el_wset(editor_, EL_CLIENTDATA, this);
    el_wset(editor_, EL_SIGNAL, 0);
    el_wset(editor_, EL_EDITOR, L"emacs");
    el_wset(editor_, EL_HIST, history_w, history_);
    el_wset(editor_, EL_PROMPT, prompt);
    el_wset(editor_, EL_GETCFN, read_character);
    el_wset(editor_, EL_ADDFN, L"take-pasted", L"Insert a pasted block", take_pasted);
    el_wset(editor_, EL_BIND, L"\\e[200~", L"take-pasted", nullptr);
    el_wset(editor_, EL_BIND, L"^R", L"em-inc-search-prev", nullptr);
  }
  ~LineEditor() override {
    el_end(editor_);
    history_wend(history_);
  }
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  Result<Line> next(const Cancel& cancel) override {
    const WakingSignals awake;
    cancel_ = &cancel;
    std::fputs("\x1b[?2004h", stderr);  // pastes come between marks
    std::fflush(stderr);
    Result<Line> line = joined_lines([&](bool first) { return read_line(first); });
    std::fputs("\x1b[?2004l", stderr);
    std::fflush(stderr);
    if (line.ok() && line.value().kind == Line::Kind::text && !line.value().text.empty()) remember();
    return line;
  }
  bool interactive() const override { return true; }

 private:
  static LineEditor& of(EditLine* editor) {
    void* self = nullptr;
    el_wget(editor, EL_CLIENTDATA, &self);
    return *static_cast<LineEditor*>(self);
  }

  static wchar_t* prompt(EditLine* editor) {
    static wchar_t first[] = L"> ", more[] = L". ";
    return of(editor).first_ ? first : more;
  }

  Result<Line> read_line(bool first) {
    first_ = first;
    if (first) said_.clear();
    interrupted_ = false;
    int count = 0;
    const wchar_t* got = el_wgets(editor_, &count);
    if (interrupted_) {
      std::fputs("\n", stderr);
      el_reset(editor_);
      return Line{Line::Kind::interrupted, ""};
    }
    if (got == nullptr || count <= 0) {
      std::fputs("\n", stderr);
      return Line{Line::Kind::end, ""};
    }
    std::wstring line(got, static_cast<std::size_t>(count));
    if (line.ends_with(L'\n')) line.pop_back();
    said_ += line;
    said_ += L'\n';
    return Line{Line::Kind::text, utf8(line)};
  }

  void remember() {
    HistEventW event;
    said_.pop_back();
    history_w(history_, &event, H_ENTER, said_.c_str());
  }

  // One byte; waits. 1, 0 at the end, -1 if it is interrupted.
  int read_byte(EditLine* editor, char& byte) {
    while (true) {
      const ssize_t got = read(STDIN_FILENO, &byte, 1);
      if (got >= 0) return static_cast<int>(got);
      if (errno != EINTR) return -1;
      if (cancel_->requested()) {
        interrupted_ = true;
        return -1;
      }
      el_wset(editor, EL_PREP_TERM, 1);
      el_resize(editor);
      el_wset(editor, EL_REFRESH);
    }
  }

  static int read_character(EditLine* editor, wchar_t* character) {
    LineEditor& self = of(editor);
    char bytes[4];
    const int got = self.read_byte(editor, bytes[0]);
    if (got != 1) return got;
    const auto lead = static_cast<unsigned char>(bytes[0]);
    std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    for (std::size_t i = 1; i < length; ++i) {
      const int more = self.read_byte(editor, bytes[i]);
      if (more != 1) return more;
    }
    *character = static_cast<wchar_t>(character_at({bytes, length}, 0).code);
    return 1;
  }

  // Up to the mark that ends it; line ends stay in the message.
  static unsigned char take_pasted(EditLine* editor, wint_t) {
    constexpr std::wstring_view kEnd = L"\x1b[201~";
    std::wstring pasted;
    wchar_t c = 0;
    while (pasted.size() < kMostPasted && el_wgetc(editor, &c) == 1) {
      pasted += c;
      if (pasted.ends_with(kEnd)) {
        pasted.resize(pasted.size() - kEnd.size());
        break;
      }
    }
    std::wstring shown;
    for (std::size_t i = 0; i < pasted.size(); ++i) {
      const bool line_end = pasted[i] == L'\r' || pasted[i] == L'\n';
      if (pasted[i] == L'\n' && i > 0 && pasted[i - 1] == L'\r') continue;
      if (line_end) shown += L'\n';
      if (!line_end && (pasted[i] == L'\t' || pasted[i] >= L' ')) shown += pasted[i];
    }
    while (shown.ends_with(L'\n')) shown.pop_back();
    if (shown.empty()) return CC_NORM;
    return el_winsertstr(editor, shown.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }

  EditLine* editor_;
  HistoryW* history_;
  const Cancel* cancel_ = nullptr;
  std::wstring said_;  // all lines of the message
  bool first_ = true, interrupted_ = false;
};

}  // namespace

std::unique_ptr<LineInput> line_editor() {
  const char* kind = std::getenv("TERM");
  if (kind == nullptr || std::strcmp(kind, "dumb") == 0) return nullptr;
  use_utf8();
  EditLine* editor = el_init("manyspan", stdin, stderr, stderr);
  if (editor == nullptr) return nullptr;
  HistoryW* history = history_winit();
  if (history == nullptr) {
    el_end(editor);
    return nullptr;
  }
  return std::make_unique<LineEditor>(editor, history);
}

}  // namespace manyspan::app
