// target — one reader of outside bytes, tried with any bytes, and what must hold of whatever it says.
//
// A crash, a hang or a huge allocation is for the sanitizers and the limits of the fuzzer to see; what they can't see is a
// property, and a target names the one that does not hold.
//
// Threads    one
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace manyspan::fuzz {

struct Outcome {
  bool accepted = false;
  std::string broken{};  // empty: every property holds
};

struct Target {
  const char* name;  // of its folder of seeds, and of its fuzzer, fuzz_NAME
  Outcome (*run)(std::string_view input);
};

std::span<const Target> targets();

Outcome safetensors(std::string_view input);
Outcome shard_index(std::string_view input);
Outcome gguf(std::string_view input);
Outcome config(std::string_view input);
Outcome tokenizer(std::string_view input);
Outcome generation_config(std::string_view input);
Outcome snapshot(std::string_view input);
Outcome chat_request(std::string_view input);
Outcome output(std::string_view input);

inline Outcome broken(std::string what) { return {true, std::move(what)}; }

// A refusal is one sentence of UTF-8 that blames the input: neither memory nor a device.
Outcome refused(const Error& error);
// The same of a file: the sentence begins with its path.
Outcome refused(const Error& error, const std::string& path);

}  // namespace manyspan::fuzz

// Leaves the target, naming the property, unless it holds.
#define HOLD(condition, property)                                \
  do {                                                           \
    if (!(condition)) return ::manyspan::fuzz::broken(property); \
  } while (false)
