#!/usr/bin/env python3
"""Makes the fuzzers' seeds from the fixtures: tests/data/fuzz/TARGET/*.

Usage: fuzz_seeds.py [MODELS]
MODELS is a folder that write_fuzz_models filled (scripts/build.sh release write_fuzz_models). Without it the seeds that
come from there stay as they are. Weight files are kept as their front only, behind four bytes that say how many zero bytes
follow it (tests/fuzz/made_file.h).
"""

import json
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests/data"
OUT = DATA / "fuzz"
MOST_ZEROS = 64 << 20


def put(target, name, data):
    folder = OUT / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def put_json(target, name, value):
    put(target, name, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def front(data, end):
    """What an input for a weight file is: count of zeros, then the bytes before them."""
    zeros = len(data) - end
    if zeros > MOST_ZEROS:
        sys.exit(f"{zeros} bytes of data are more than {MOST_ZEROS}")
    return struct.pack("<I", zeros) + data[:end]


def gguf_header_end(data):
    """Where the list of tensors ends."""
    at = 8
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

    def number(form):
        nonlocal at
        value, = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return value

    def text():
        nonlocal at
        length = number("<Q")
        at += length

    def value(kind):
        nonlocal at
        if kind == 8:
            text()
        elif kind == 9:
            element, count = number("<I"), number("<Q")
            if element in sizes:
                at += sizes[element] * count
            else:
                for _ in range(count):
                    value(element)
        else:
            at += sizes[kind]

    tensors, pairs = number("<Q"), number("<Q")
    for _ in range(pairs):
        text()
        value(number("<I"))
    for _ in range(tensors):
        text()
        rank = number("<I")
        at += 8 * rank + 12
    return at


def weight_files(models):
    for path in sorted((DATA / "hostile").glob("*.safetensors")):
        data = path.read_bytes()
        put("safetensors", path.stem, struct.pack("<I", 0) + data)
    for path in sorted((DATA / "t1_base").glob("model-*.safetensors"))[:2]:
        data = path.read_bytes()
        put("safetensors", path.stem, front(data, 8 + struct.unpack_from("<Q", data)[0]))
    for path in sorted((DATA / "hostile").glob("*.gguf")) + sorted((DATA / "hostile").glob("gg_split*/*.gguf")):
        put("gguf", (path.parent.name + "_" if path.parent.name != "hostile" else "") + path.stem,
            struct.pack("<I", 0) + path.read_bytes())
    if models:
        for path in sorted(models.glob("*.gguf")):
            data = path.read_bytes()
            put("gguf", path.stem, front(data, gguf_header_end(data)))
        for path in sorted(models.glob("session_*")):
            put("snapshot", path.name, path.read_bytes())
        put("snapshot", "session_cut", (models / "session_5").read_bytes()[:100])


def indexes():
    names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    put_json("shard_index", "both", {"metadata": {"total_size": 8}, "weight_map": dict(zip("ab", names))})
    put_json("shard_index", "first", {"weight_map": {"a": names[0]}})
    put_json("shard_index", "float_size", {"metadata": {"total_size": 8.0, "more": [{}]}, "weight_map": {"b": names[1]}})
    put_json("shard_index", "wrong_shard", {"weight_map": {"a": names[1]}})
    put_json("shard_index", "no_map", {"metadata": {}})
    for folder in sorted((DATA / "hostile").glob("st_index_*")):
        put("shard_index", folder.name, (folder / "model.safetensors.index.json").read_bytes())
    put("shard_index", "small_model", (DATA / "t1_base/model.safetensors.index.json").read_bytes()[:4000])


def configs():
    for path in sorted(DATA.glob("t*_*/config.json")):
        put("config", path.parent.name, path.read_bytes())
    for path in sorted((DATA / "configs").glob("*.json")):
        put("config", path.stem, path.read_bytes())
    put("config", "bundled", (ROOT / "models/first-light/config.json").read_bytes())
    put("generation_config", "bundled", (ROOT / "models/first-light/generation_config.json").read_bytes())
    for name, value in {
            "ids": {"bos_token_id": 0, "eos_token_id": [1], "pad_token_id": 2},
            "sampled": {"do_sample": True, "temperature": 0.6, "top_p": 0.95, "top_k": 20},
            "effort": {"thinking": 75}, "off": {"thinking": "off"}, "nulls": {"top_p": None, "do_sample": None},
            "many_ends": {"eos_token_id": [1, 5]}, "hot": {"temperature": 101}}.items():
        put_json("generation_config", name, value)


def tokenizers():
    whole = json.loads((DATA / "tokenizer-small/tokenizer.json").read_text())
    letters = [token for token in whole["model"]["vocab"] if len(token) == 1]
    for name, merges, added in (("bytes", 0, 0), ("few_merges", 40, 8)):
        cut = json.loads(json.dumps(whole))
        pairs = whole["model"]["merges"][:merges]
        joined = ["".join(p.split(" ")) if isinstance(p, str) else "".join(p) for p in pairs]
        kept = whole["added_tokens"][:added]
        cut["model"]["vocab"] = {token: i for i, token in enumerate(letters + joined)}
        cut["model"]["merges"] = pairs
        for i, token in enumerate(kept):
            token["id"] = len(letters) + len(joined) + i
        cut["added_tokens"] = kept
        put_json("tokenizer", name, cut)
    shell = json.loads(json.dumps(whole))
    shell["model"]["vocab"], shell["model"]["merges"], shell["added_tokens"] = {"a": 0}, [], []
    put_json("tokenizer", "too_few", shell)
    shell["normalizer"] = {"type": "NFKC"}
    put_json("tokenizer", "normalised", shell)
    put_json("tokenizer", "empty", {})


def conversations():
    cases = json.loads((DATA / "encoding_cases.json").read_text())
    for i, row in enumerate(cases["cases"]):
        body = {key: value for key, value in row.items() if key not in ("name", "expected", "error", "why")}
        put_json("chat_request", f"case_{i:02}", body)
    for i, row in enumerate(cases["api"]):
        put_json("chat_request", f"api_{i:02}", row["request"])
    put_json("chat_request", "list", [{"role": "user", "content": "Hello"}])
    for i, row in enumerate(json.loads((DATA / "parse_cases.json").read_text())["cases"]):
        stops = row["stop"][:3]
        flags = (row["mode"] == "thinking") | row["parse_tool_calls"] << 1 | row["starts_inside_calls_block"] << 2
        head = bytes([flags | len(stops) << 6, i]) + b"".join(s.encode() + b"\0" for s in stops)
        put("output", f"case_{i:02}", head + row["text"].encode())
    put("output", "by_token", bytes([11, 3]) + "so\1</think>\1done <\1｜DSML｜\1 calls>".encode())


def main():
    weight_files(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    indexes()
    configs()
    tokenizers()
    conversations()


main()
