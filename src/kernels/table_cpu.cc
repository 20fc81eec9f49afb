#include "kernels/cpu_ops.h"

#define MANYSPAN_TEXT_OF(isa) #isa
#define MANYSPAN_NAME_OF(isa) "cpu-" MANYSPAN_TEXT_OF(isa)

namespace manyspan::kernels::MANYSPAN_ISA {

namespace {

// As no_work and takes_all, but in here, where no other instruction set's table can meet them.
template <class P>
std::size_t none(const P&) {
  return 0;
}
template <class P>
const char* all_of_it(const P&) {
  return nullptr;
}

}  // namespace

extern const Table kTable;
const Table kTable = {
    .name = MANYSPAN_NAME_OF(MANYSPAN_ISA),
    .tiling = Tiling::cpu16x32,
    .expert_order = RowOrder::paired8,
    .embed = {embed, none, all_of_it},
    .turn = {turn, none, turn_refuses},
    .mix = {mix, mix_work, mix_refuses},
    .linear = {linear, linear_work, linear_refuses},
    .remember = {remember, remember_work, remember_refuses},
    .select = {select, select_work, select_refuses},
    .attend = {attend, none, attend_refuses},
    .route = {route, none, route_refuses},
    .experts = {experts, experts_work, experts_refuses},
    .engram_rows = {engram_rows, none, all_of_it},
    .engram_gate = {engram_gate, none, all_of_it},
    .append = {kernels::append, none, all_of_it},
    .gather = {gather, none, all_of_it},
    .sample = {kernels::sample, kernels::sample_work, all_of_it},
};

}  // namespace manyspan::kernels::MANYSPAN_ISA
