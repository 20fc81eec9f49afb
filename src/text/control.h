// control — the texts of the control tokens that chat prompts and model output are built from.
//
// Specification: prompt encoding, section 1. Ids differ between tokenizers and are looked up by these texts.
#pragma once

#include <string_view>

namespace manyspan::text {

inline constexpr std::string_view kBos = "<｜begin▁of▁sentence｜>";
inline constexpr std::string_view kEos = "<｜end▁of▁sentence｜>";
inline constexpr std::string_view kSystem = "<｜System｜>";
inline constexpr std::string_view kUser = "<｜User｜>";
inline constexpr std::string_view kAssistant = "<｜Assistant｜>";
inline constexpr std::string_view kReminder = "<｜latest_reminder｜>";
inline constexpr std::string_view kThink = "<think>";
inline constexpr std::string_view kThinkEnd = "</think>";
inline constexpr std::string_view kDsml = "｜DSML｜";  // the angle brackets around it are ordinary text
inline constexpr std::string_view kImage = "<｜deepseek_image｜>";

}  // namespace manyspan::text
