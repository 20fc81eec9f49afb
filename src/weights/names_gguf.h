// names_gguf — what GGUF files call each weight, and the official names for it.
//
// Two families of files differ in three names of Engram's; both are understood, the first is written. Experts of a layer
// are one tensor. Parts of the draft model stand in the blocks after the trunk's, or in files of their own; parts of the
// vision model in others.
//
// Spec       containers.md B.5, B.9
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "spec/slots.h"

namespace manyspan {

// "blk.3.attn_q_a.weight".
std::string gguf_name(Role role, LayerId layer);

// `name` as the official checkpoint has it: "layers.3.attn.wq_a.weight", "mtp.0.attn.wq_a.weight" for the first block
// after the trunk's `layers`. A name that is not known stays as it is.
std::string gguf_official(std::string_view name, std::int32_t layers);

}  // namespace manyspan
