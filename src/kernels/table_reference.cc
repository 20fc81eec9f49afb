#include "kernels/reference_ops.h"
#include "kernels/table.h"

namespace manyspan::kernels {

namespace r = reference;

const Table kReference = {
    .name = "reference",
    .tiling = Tiling::plain,
    .expert_order = RowOrder::natural,
    .embed = {r::embed, no_work, takes_all},
    .turn = {r::turn, no_work, takes_all},
    .mix = {r::mix, r::mix_work, takes_all},
    .linear = {r::linear, r::linear_work, r::linear_refuses},
    .remember = {r::remember, r::remember_work, takes_all},
    .select = {r::select, r::select_work, takes_all},
    .attend = {r::attend, r::attend_work, takes_all},
    .route = {r::route, no_work, r::route_refuses},
    .experts = {r::experts, r::experts_work, r::experts_refuses},
    .engram_rows = {r::engram_rows, no_work, takes_all},
    .engram_gate = {r::engram_gate, no_work, takes_all},
    .append = {append, no_work, takes_all},
    .gather = {r::gather, no_work, takes_all},
    .sample = {sample, sample_work, takes_all},
};

}  // namespace manyspan::kernels
