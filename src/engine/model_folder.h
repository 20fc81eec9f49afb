// model_folder — where the files beside a checkpoint lie: config.json, tokenizer.json, generation_config.json.
#pragma once

#include <string>

namespace manyspan {

// `path` itself where it is a folder. Else the folder of the file, or, where that has no config.json and the
// file is a link, the folder of what the link leads to in the end, if config.json is there.
std::string model_folder_of(const std::string& path);

}  // namespace manyspan
