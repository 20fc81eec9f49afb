// select — from index queries to the rows each token attends to: scores, candidate blocks, the best rows.
//
//   iq = fp4(rope(q[t, h])),  w = bf16(head_weights[t, h]·head_scale)
//   score[j] = bf16(Σ_h bf16(max(bf16(iq_h·key_j), 0)·w_h)) for rows j < n = ⌊(p + 1) / ratio⌋
//   rows outside `read`'s blocks are out (when read.blocks is given)
//   blocks: block b's score is the largest of its visible rows', the newest block always stays, best
//           write.width blocks, ties to the lower block (when write.blocks is given; from scores before
//           `read`)
//   out: the best min(width, n) rows by score, ties to the lower row, listed ascending; a row that is out is
//   never taken
//
// Shapes     q [T, heads·key_dim] bf16 · head_weights [T, heads] bf16 · score_tap [T, cols] bf16, -inf where
//            not visible, before candidate masking · query_tap [T, heads·key_dim] bf16 · weight_tap [T,
//            heads] bf16
// Numerics   dots in double → f32 → bf16; the sum over heads in double → f32 → bf16. Others: heads summed in
//            one fixed order in f32. Where n ≤ width every row is selected and scores may be left uncomputed,
//            unless a tap or a candidate list that drops blocks needs them
// Cost       scratch is bounded whatever the context (interfaces.md A9)
// Spec       model.md 6.4
#pragma once

#include "kernels/batch_view.h"
#include "kernels/pages.h"
#include "kernels/rope/rope.h"
#include "tensor/bf16.h"

namespace manyspan::kernels {

struct Select {
  Rows<const Bf16> q;
  Rows<const Bf16> head_weights;
  float head_scale;
  std::int32_t heads;
  BatchView batch;
  SourceView source;
  Rope rope;
  Candidates read, write;
  Selection out;
  std::int32_t most_rows;  // of any slot, now: a bound for scratch and loops, from the plan's context limit

  Rows<Bf16> query_tap, weight_tap, score_tap;
  Work work;

  template <class See>
  void views(See& see) {
    batch.views(see), see.look("rope.frequency", rope.frequency, rope.dims / 2), see.work(work);
    see.some_in("source.pool", source.pool), see.some_in("source.table", source.table.page);
    see.in("q", q), see.in("head_weights", head_weights);
    const std::int64_t reads = read.blocks == nullptr ? 0 : batch.rows;
    const std::int64_t writes = write.blocks == nullptr ? 0 : batch.rows;
    see.in("read.blocks", read.blocks, reads * read.width), see.in("read.count", read.count, reads);
    see.out("write.blocks", write.blocks, writes * write.width), see.out("write.count", write.count, writes);
    see.out("out.rows", out.rows, std::int64_t{batch.rows} * out.width);
    see.out("out.count", out.count, batch.rows);
    see.out("query_tap", query_tap), see.out("weight_tap", weight_tap), see.out("score_tap", score_tap);
  }
};
static_assert(kIsParams<Select>);

}  // namespace manyspan::kernels
