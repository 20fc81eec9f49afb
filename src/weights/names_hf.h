// names_hf — what the official checkpoint calls each weight, and how other copies of it say the same.
//
// Spec       containers.md A.4, A.5; model.md 2
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "spec/slots.h"

namespace manyspan {

// The official name of a role's tensor: "layers.3.attn.wq_a.weight". `expert` -1: all experts in one tensor,
// "layers.3.ffn.experts.w1.weight".
std::string hf_name(Role role, LayerId layer, std::int32_t expert = -1);

// What scales of "X.weight" may be called, after the "X".
std::span<const std::string_view> hf_scale_suffixes();

// What stands before the trunk's names, found among all names: the one that the embedding has.
std::optional<std::string_view> hf_namespace(std::span<const std::string_view> names);

// `name` as the official checkpoint has it: the namespace gone, and other spellings replaced.
std::string hf_official(std::string_view name, std::string_view name_space);

// The part of another capability that an official name belongs to.
std::optional<Capability> hf_capability(std::string_view official);

// Whether only a DeepSeek-V4 file has such a tensor.
bool hf_only_in_v4(std::string_view official);

}  // namespace manyspan
