#!/usr/bin/env python3
"""Writes a checkpoint in the official layout whose weights are all zero, as sparse files: for trying out loading.

    tools/make_sparse_checkpoint.py /tmp/big                    # 20 GB of the released widths, a few MB of disk
    tools/make_sparse_checkpoint.py /tmp/small --hidden 1024 --heads 16 --experts 4 --vocabulary 1024
    tools/make_sparse_checkpoint.py /tmp/full --full            # no holes: every byte takes disk and is read from it

Four layers: two with windows only, the second of them with Engram, a source of ratio 2 and one of ratio 1. Zero codes
under scales of 2^-127 are valid numbers; what the model answers is not meant to make sense. Prints bytes by kind.
"""
import argparse
import json
import os
import struct

HEAD_DIM, Q_RANK, O_RANK, GROUPS, INNER = 512, 1280, 1024, 8, 2304
INDEX_HEADS, INDEX_DIM, STREAMS, NGRAM, ENGRAM_HEADS, ENGRAM_DIM = 32, 128, 4, 4, 8, 256
RATIOS = [0, 0, 2, 1]
ENGRAM_LAYER = 1
BYTES = {"BF16": 2, "F32": 4, "F8_E4M3": 1, "F8_E8M0": 1, "I8": 1}


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def engram_rows(vocabulary):
    """The sum of the primes that stand for the hash heads of one layer: the next unused ones from `vocabulary` on."""
    used, n = [], vocabulary
    while len(used) < (NGRAM - 1) * ENGRAM_HEADS:
        if is_prime(n):
            used.append(n)
        n += 1
    return sum(used)


def config(a, rows):
    text = {
        "model_type": "deepseek_v41_text", "vocab_size": a.vocabulary, "hidden_size": a.hidden,
        "moe_intermediate_size": INNER, "num_hidden_layers": len(RATIOS), "num_attention_heads": a.heads,
        "num_key_value_heads": 1, "head_dim": HEAD_DIM, "qk_rope_head_dim": 64, "q_lora_rank": Q_RANK,
        "o_lora_rank": O_RANK, "o_groups": GROUPS, "hidden_act": "silu", "swiglu_limit": 10.0,
        "rms_norm_eps": 1e-6, "attention_bias": False, "tie_word_embeddings": False,
        "max_position_embeddings": 65536, "rope_theta": 10000,
        "rope_scaling": {"rope_type": "yarn", "factor": 16, "beta_fast": 32, "beta_slow": 1,
                         "original_max_position_embeddings": 65536},
        "n_routed_experts": a.experts, "n_shared_experts": 1, "num_experts_per_tok": min(6, a.experts),
        "scoring_func": "sqrtsoftplus", "topk_method": "noaux_tc", "norm_topk_prob": True,
        "routed_scaling_factor": 1.5, "sliding_window": 128, "compress_ratios": RATIOS,
        "compress_rope_theta": 160000, "kv_source_layer_ids": [2, 3], "index_source_layer_ids": [2, 3],
        "index_n_heads": INDEX_HEADS, "index_head_dim": INDEX_DIM, "index_topk": 512,
        "candidate_source_layer_id": 3, "candidate_topk_blocks": 2048, "candidate_block_size": 8,
        "hc_mult": STREAMS, "hc_sinkhorn_iters": 20, "hc_eps": 1e-6, "engram_layer_ids": [ENGRAM_LAYER],
        "engram_num_embeddings": [rows], "engram_max_ngram_size": NGRAM,
        "engram_vocab_size": a.engram_vocabulary, "engram_n_heads": ENGRAM_HEADS, "engram_head_dim": ENGRAM_DIM,
        "engram_pad_token_id": 2, "engram_compressed_vocab_size": a.vocabulary // 4,
        "num_nextn_predict_layers": 0,
    }
    return {
        "architectures": ["DeepseekV41ForCausalLM"], "model_type": "deepseek_v41", "dtype": "bfloat16",
        "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2, "image_token_id": -1,
        "quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic",
                                "weight_block_size": [32, 32], "scale_fmt": "ue8m0", "expert_dtype": "fp4"},
        "text_config": text,
    }


def fp8(name, rows, cols):
    return [(name + ".weight", "F8_E4M3", [rows, cols]), (name + ".scale", "F8_E8M0", [-(-rows // 32), -(-cols // 32)])]


def fp4(name, rows, cols):
    return [(name + ".weight", "I8", [rows, cols // 2]), (name + ".scale", "F8_E8M0", [rows, cols // 32])]


def layer(n, a):
    hidden, heads = a.hidden, a.heads
    p = f"layers.{n}."
    out = []
    for kind in ("attn", "ffn"):
        out += [(f"{p}{kind}_norm.weight", "BF16", [hidden]), (f"{p}hc_{kind}_fn", "F32", [24, STREAMS * hidden]),
                (f"{p}hc_{kind}_base", "F32", [24]), (f"{p}hc_{kind}_scale", "F32", [3])]
    out += fp8(p + "attn.wq_a", Q_RANK, hidden) + fp8(p + "attn.wq_b", heads * HEAD_DIM, Q_RANK)
    out += fp8(p + "attn.wkv", HEAD_DIM, hidden) + fp8(p + "attn.wo_a", GROUPS * O_RANK, heads * HEAD_DIM // GROUPS)
    out += fp8(p + "attn.wo_b", hidden, GROUPS * O_RANK)
    out += [(p + "attn.q_norm.weight", "BF16", [Q_RANK]), (p + "attn.kv_norm.weight", "BF16", [HEAD_DIM]),
            (p + "attn.attn_sink", "F32", [heads])]
    if RATIOS[n]:
        c, i = p + "attn.compressor.", p + "attn.indexer."
        out += [(c + "wkv.weight", "BF16", [HEAD_DIM, hidden]), (c + "norm.weight", "BF16", [HEAD_DIM])]
        if RATIOS[n] > 1:
            out += [(c + "wgate.weight", "BF16", [HEAD_DIM, hidden])]
        out += [(i + "wk.weight", "BF16", [INDEX_DIM, HEAD_DIM]), (i + "k_norm.weight", "BF16", [INDEX_DIM]),
                (i + "weights_proj.weight", "BF16", [INDEX_HEADS, hidden])]
        out += fp8(i + "wq_b", INDEX_HEADS * INDEX_DIM, Q_RANK)
    out += [(p + "ffn.gate.weight", "BF16", [a.experts, hidden]), (p + "ffn.gate.bias", "F32", [a.experts])]
    for stem, kind in [(f"experts.{e}", fp4) for e in range(a.experts)] + [("shared_experts", fp8)]:
        s = f"{p}ffn.{stem}."
        out += kind(s + "w1", INNER, hidden) + kind(s + "w3", INNER, hidden) + kind(s + "w2", hidden, INNER)
    return out


def engram(rows, hidden):
    p = f"layers.{ENGRAM_LAYER}.engram."
    gains = [(p + "q_weight", "BF16", [STREAMS, hidden]), (p + "k_weight", "BF16", [STREAMS, hidden])]
    table = [(p + "embed.weight", "F8_E4M3", [rows, ENGRAM_DIM]), (p + "embed.scale", "F8_E8M0", [rows, ENGRAM_DIM // 32])]
    width = (NGRAM - 1) * ENGRAM_HEADS * ENGRAM_DIM
    return gains + table + fp8(p + "wkv", (STREAMS + 1) * hidden, width)


def size(tensor):
    count = BYTES[tensor[1]]
    for dim in tensor[2]:
        count *= dim
    return count


def write(path, tensors, full):
    header, at = {}, 0
    for name, dtype, shape in tensors:
        end = at + size((name, dtype, shape))
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        if not full:
            f.truncate(8 + len(text) + at)
            return at
        left, block = at, b"\0" * (16 << 20)
        while left:
            left -= f.write(block[:left])
    return at


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("--hidden", type=int, default=5120, help="a multiple of 128")
    p.add_argument("--heads", type=int, default=64, help="a multiple of 8")
    p.add_argument("--experts", type=int, default=56, help="routed experts of each of the four layers")
    p.add_argument("--vocabulary", type=int, default=32768)
    p.add_argument("--engram-vocabulary", type=int, default=2200000, help="about the rows of each of the 24 hash heads")
    p.add_argument("--full", action="store_true", help="write zeros instead of holes")
    a = p.parse_args()
    os.makedirs(a.folder, exist_ok=True)
    rows = engram_rows(a.engram_vocabulary)
    shards = [[("embed.weight", "BF16", [a.vocabulary, a.hidden])]]
    shards += [layer(n, a) for n in range(len(RATIOS))]
    shards += [[("head.weight", "BF16", [a.vocabulary, a.hidden]), ("norm.weight", "BF16", [a.hidden])], engram(rows, a.hidden)]
    weight_map, total = {}, 0
    for n, tensors in enumerate(shards):
        name = f"model-{n + 1:05d}-of-{len(shards):05d}.safetensors"
        total += write(os.path.join(a.folder, name), tensors, a.full and n + 1 < len(shards))
        weight_map.update({t[0]: name for t in tensors})
    for name, value in {
        "config.json": config(a, rows),
        "model.safetensors.index.json": {"metadata": {"total_size": total}, "weight_map": weight_map},
        "engram_token_map.json": [t % (a.vocabulary // 4) for t in range(a.vocabulary)],
    }.items():
        with open(os.path.join(a.folder, name), "w") as f:
            json.dump(value, f)
    table = rows * (ENGRAM_DIM + ENGRAM_DIM // 32)
    layers = max(sum(size(t) for t in s) for s in shards[1 : 1 + len(RATIOS)])
    print(json.dumps({"bytes": total, "engram_bytes": table, "loaded_bytes": total - table, "largest_layer_bytes": layers}))


main()
