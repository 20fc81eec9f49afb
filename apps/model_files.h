// model_files — where the parts of a MODEL are, whichever way it was named.
#pragma once

#include <string>

#include "base/result.h"
#include "spec/blueprint.h"

namespace CLI {
class App;
}

namespace manyspan::app {

class Settings;

// Adds the optional MODEL argument.
void declare_model(CLI::App& options, std::string& model);

// The bundled model, where none was named.
Result<void> offer_bundled_model(Settings& settings);

// The folder of a model that is named by itself, by a .safetensors file in it, or by its tokenizer.json.
// Errors: not_found; unsupported for a .gguf
Result<std::string> model_folder(const std::string& model);

// The config.json of a model. Errors: as of a file, with its name
Result<Blueprint> read_model_config(const std::string& model);

}  // namespace manyspan::app
