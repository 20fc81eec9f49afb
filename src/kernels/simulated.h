// simulated — a table for a simulated device, made of a host table: the same numbers, late and elsewhere.
//
// An operation is queued with its parameters by value. When it runs, every address that `views` lists is
// translated to where the device's bytes really are, and the inner table's operation does the work. An
// address of another device, of the host or of freed memory is a fault that names operation and field. The
// table has the inner one's name, tiling, workspace and refusals.
//
// Requires   the inner table outlives the world; the result is used on queues of that device alone
// Threads    as the world
// Spec       interfaces.md A5
#pragma once

#include "device/sim_device.h"
#include "kernels/table.h"

namespace manyspan::kernels {

// Also makes `inner` what this device runs from now on, whichever simulated table the work comes through.
Table simulated(const Table& inner, SimWorld& world, int device);

}  // namespace manyspan::kernels
