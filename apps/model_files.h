// model_files — where the parts of a MODEL are, whichever way it was named.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/options.h"
#include "spec/blueprint.h"
#include "text/tokenizer.h"

namespace CLI {
class App;
}

namespace manyspan::app {

class Settings;

// Adds the optional MODEL argument.
void declare_model(CLI::App& options, std::string& model);

// The bundled model, where none was named.
Result<void> offer_bundled_model(Settings& settings);

// The folder of a model that is named by itself, by a .safetensors or .gguf file in it, or by its tokenizer.json.
// Errors: not_found; unsupported for any other file
Result<std::string> model_folder(const std::string& model);

// What a model says of itself: in the files of its folder, or in the keys of its GGUF, which alone are then looked at.
// Errors: as of a file, with its name
Result<Blueprint> read_model_config(const std::string& model);
Result<text::Tokenizer> read_model_tokenizer(const std::string& model);
Result<GenerationDefaults> read_model_defaults(const std::string& model);

// Where its configuration stands, for messages: "config.json", or "keys" of a GGUF.
std::string config_name(const std::string& model);

}  // namespace manyspan::app
