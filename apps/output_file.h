// output_file — whether a file may be written: nothing that the program itself lives on, and no folder.
//
// Errors     invalid: it is a file of the model, or one that was given to be read, by whatever name or link;
//            exhausted: a folder is there, or the folder that it would be in can't be written
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace manyspan::app {

// `what` names the place in messages, as "--out". `read` are other files that were given to be read; empty names are
// passed over.
Result<void> may_be_written(const std::string& what, const std::string& path, const std::string& model,
                            const std::vector<std::string>& read);

// A failure to write, whatever the reason, is one of running and no fault of a file.
Result<void> of_writing(Result<void> written);

}  // namespace manyspan::app
