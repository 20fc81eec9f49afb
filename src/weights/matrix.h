// matrix — a tensor and its scales, read as one matrix or as a row of equal ones.
//
// The encoding follows from the codes' type, the scales' and the config; shapes must then agree.
//
//   F32, F16, BF16          [rows, cols], no scales
//   F8_E4M3                 [rows, cols]; scales [⌈rows/R⌉, ⌈cols/C⌉] with R x C the config's weight_block_size: 32x32,
//                           128x128 (also as F32), or 1x32, which quant_method "mxfp8" means
//   I8, U8, F4, U32         two 4-bit codes a byte; scales [rows, cols/32]. NVFP4 where scales are E4M3: [rows, cols/16],
//                           and an F32 factor, `weight_scale_2`; `input_scale` is of no use here
//   U32                     also four FP8 codes a word: scales [rows, cols/32]. Scales of U32 words are bytes (U8)
//   types in blocks         [rows, cols], of GGUF only. NVFP4's have an F32 factor, `scale`, for each matrix or for all
//
// In a GGUF, where FP8 has no type, a table may be I8 [rows, cols] with scales I8 [rows, cols/32], or I8 [rows, 264]: codes
// and scales of 256 columns. Leading dimensions of 1 are absent.
//
// Otherwise E8M0 scales may be stored as U8 where the config says ue8m0. A table (SlotKind::row_scaled_table) has blocks of 1x32
// whatever the config says.
//
// Experts may not be stored in a form that contradicts the config's expert_dtype; plain ones always may.
//
// Errors     corrupt: shapes, missing scales, a number that is NaN or infinite, a scale that makes a code's
//            largest number so · unsupported: a type or encoding the slot excludes · invalid: expert_dtype
// Spec       containers.md A.2 rule 11, A.5; quant_formats.md 4
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "spec/slots.h"
#include "weights/directory.h"
#include "weights/weights.h"

namespace manyspan {

// What is known of the matrix before its file is looked at.
struct MatrixWanted {
  const Slot& slot;
  const Quantization& quantization;
  std::int32_t merged = 0;  // above 0: this many matrices in one tensor of rank 3
  bool scan = true;         // look for numbers that are not finite
};

// `official`: the tensor's official name, which is in `directory`. One source for each matrix of the tensor.
Result<std::vector<MatrixSource>> read_matrices(Directory& directory, const std::string& official,
                                                const MatrixWanted& wanted);

}  // namespace manyspan
