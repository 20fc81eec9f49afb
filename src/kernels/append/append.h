// append — a source's new rows and index keys, made on another device, into this device's pages.
//
//   for each row t of the batch whose position ends a group: page row j of its session ← published[t],
//   j = position / ratio
//
// Shapes     published [T, source.row_bytes()]; the rows that end no group are not read
// Requires   pages of all rows written are in the table
// Numerics   copies
// Spec       model.md 7; interfaces.md A7, A12
#pragma once

#include "kernels/batch_view.h"
#include "kernels/pages.h"

namespace manyspan::kernels {

struct Append {
  BatchView batch;
  Rows<const std::byte> published;
  SourceView source;

  template <class See>
  void views(See& see) {
    batch.views(see), see.in("published", published);
    see.some_inout("source.pool", source.pool), see.some_in("source.table", source.table.page);
  }
};
static_assert(kIsParams<Append>);

// The one implementation for host memory, which every host table lists.
void append(Queue&, const Append&);

}  // namespace manyspan::kernels
