#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "container/container.h"

namespace {
std::atomic<std::size_t> bytes_asked_for{0};
}  // namespace

// Counts what is asked for, so that a test can tell a header's claims from what they cost. Not to be inlined: the
// compiler would take the pair apart, and warn that free() is given what new made.
[[gnu::noinline]] void* operator new(std::size_t size) {
  bytes_asked_for += size;
  if (void* at = std::malloc(size)) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  bytes_asked_for += size;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { std::free(at); }

namespace manyspan {
namespace {

const std::string kFolder = MANYSPAN_SOURCE_DIR "/tests/data/hostile/";
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Opens every fixture whose kind begins so, and gives how many there were.
int verdicts(const std::string& kind) {
  const Json manifest = parse_json(read_file(kFolder + "manifest.json", 1 << 20).value()).value();
  int tried = 0;
  for (const Json& entry : *manifest.find("files")->array()) {
    const auto text = [&](const char* key) {
      return entry.find(key) ? *entry.find(key)->string() : std::string();
    };
    if (!text("kind").starts_with(kind)) continue;
    ++tried;
    // A fault of the model is for other rooms: the container is sound.
    const bool sound = text("expect") == "load" || text("level") == "model";
    const std::size_t before = bytes_asked_for;
    const auto container = open_container(kFolder + text("file"));
    EXPECT_LT(bytes_asked_for - before, kMostBytes) << text("file");
    EXPECT_EQ(container.ok(), sound) << text("file") << ": " << text("why")
                                     << (container.ok() ? "" : ": " + container.error().message());
    if (sound || container.ok()) continue;
    const std::string& message = container.error().message();
    EXPECT_TRUE(message.starts_with(kFolder + text("file"))) << message;
    EXPECT_NE(lower(message).find(lower(text("error_mentions"))), std::string::npos)
        << text("file") << ": " << message << " lacks " << text("error_mentions");
    EXPECT_EQ(message.find('\0'), std::string::npos);
  }
  return tried;
}

TEST(Hostile, EverySafetensorsFixtureGetsItsVerdictInBoundedMemory) {
  EXPECT_EQ(verdicts("safetensors"), 45);
}

TEST(Hostile, EveryGgufFixtureGetsItsVerdictInBoundedMemory) { EXPECT_EQ(verdicts("gguf"), 55); }

TEST(Hostile, AnEscapedNameIsReadAsItsCharacters) {
  const auto container = open_container(kFolder + "ok_unicode_and_extra.safetensors");
  ASSERT_TRUE(container.ok());
  const StoredTensor* tensor = container.value().find("a\u00e9\U0001F40B");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(described(*tensor), "U8 [1]");
  EXPECT_EQ(python_json(container.value().metadata()), "{\"\u8a9e\": \"\U0001F40B\"}");
}

}  // namespace
}  // namespace manyspan
