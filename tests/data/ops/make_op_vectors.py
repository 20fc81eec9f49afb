#!/usr/bin/env python3
"""Writes the vectors in this folder: one operation each, computed by the project's numpy oracle.

usage: make_op_vectors.py ORACLE_DIR   (Debian's python3-numpy)

Every array is one hex string of big-endian words: bf16 4 digits, f32 and i32 8, u8 2.
"""
import json
import os
import sys
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, sys.argv[1])
import num  # noqa: E402
import oracle  # noqa: E402
from num import F32, bf16  # noqa: E402
from stio import E4M3, decode_e8m0, unpack_fp4  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(20)


def b(x):
    return (np.ascontiguousarray(x, F32).view(np.uint32) >> 16).astype(">u2").tobytes().hex()


def f(x):
    return np.ascontiguousarray(x, F32).astype(">f4").tobytes().hex()


def i(x):
    return np.ascontiguousarray(x).astype(">i4").tobytes().hex()


def u(x):
    return np.ascontiguousarray(x, np.uint8).tobytes().hex()


def save(name, **arrays):
    with open(os.path.join(HERE, name + ".json"), "w") as out:
        json.dump(arrays, out, indent=0)


def rows(*shape):
    """bf16 values, skewed, with outliers."""
    x = rng.normal(0.3, 1, shape)
    return bf16((x * np.where(rng.random(shape) < .02, 20, 1)).astype(F32))


def gains(*shape):
    return bf16(rng.normal(1, .3, shape).astype(F32))


def model(**keys):
    m = oracle.Model.__new__(oracle.Model)
    m.c, m.cache, m.mode, m.ref_layout = SimpleNamespace(eps=1e-20, **keys), {}, "intended", False
    m.ck = m.cache
    m.trace = {}
    m.reset()
    m.trace = {}
    return m


def hyper():
    S, D, T = 4, 32, 11
    m = model(hc=S, hc_eps=1e-6, sink_iters=20)
    X = rows(T, S, D)
    fn = rng.normal(0, .3, (24, S * D)).astype(F32)
    base, scale = rng.normal(0, 1, 24).astype(F32), np.array([1.3, .7, 2.1], F32)
    m.cache.update(a_fn=fn, a_base=base, a_scale=scale)
    pre, post, comb = m.mix(X, "a")
    save("mix", streams=b(X), fn=f(fn), base=f(base), scale=f(scale), pre=f(pre), post=f(post), comb=f(comb))
    o, gain = rows(T, D), gains(D)
    Y = m.expand(o, X, post, comb)
    x = num.rmsnorm(m.collapse(Y, pre), gain, 1e-20)
    save("turn", streams=b(X), o=b(o), post=f(post), comb=f(comb), pre=f(pre), gain=b(gain), out=b(Y),
         mean=b(bf16(num.f32(Y.astype(np.float64).mean(1)))), x=b(x), x8=b(num.act8_dq(x)))


def linear():
    T, K, N = 9, 96, 64
    x, gain = rows(T, K), gains(K)
    codes8 = rng.integers(0, 256, (N, K)).astype(np.uint8)
    codes8[(codes8 & 127) == 127] = 0x35
    s8 = rng.integers(118, 130, (N // 32, K // 32)).astype(np.uint8)
    w8 = (E4M3[codes8] * np.repeat(np.repeat(decode_e8m0(s8), 32, 0), 32, 1)).astype(F32)
    codes4 = rng.integers(0, 256, (N, K // 2)).astype(np.uint8)
    s4 = rng.integers(118, 130, (N, K // 32)).astype(np.uint8)
    w4 = (unpack_fp4(codes4) * np.repeat(decode_e8m0(s4), 32, 1)).astype(F32)
    wb, wf = rows(N, K), rng.normal(0, 1, (N, K)).astype(F32)
    n8 = num.act8_dq(num.rmsnorm(x, gain, 1e-20))
    save("linear", x=b(x), gain=b(gain), codes8=u(codes8), scales8=u(s8), codes4=u(codes4), scales4=u(s4), wb=b(wb),
         wf=f(wf), y8=b(bf16(num.matmul_t(n8, w8))), y4=b(bf16(num.matmul_t(n8, w4))),
         yb=b(num.act8_dq(bf16(num.matmul_t(x, wb)))), yf=f(num.matmul_t(x, wf)))


def attention_model(**keys):
    m = model(hd=64, rd=16, ihd=32, inh=5, theta=10000, ctheta=160000, yarn_len=1024, yarn_factor=4.0, beta_fast=32,
              beta_slow=1, **keys)
    m.freqs = {0: oracle.rope_freqs(m.c, 0), 1: oracle.rope_freqs(m.c, 1)}
    return m


def remember(name, R, T):
    m = attention_model(ratios=[R], kv_src=[0], ix_src=[])
    k, kg = rows(T, 64), gains(64)
    ident = np.eye(64, dtype=F32)
    base = "layers.0.attn.compressor."
    a, g = rng.normal(0, 2, (T, 64)).astype(F32), rng.normal(0, 3, (T, 64)).astype(F32)
    rg, wk, keyg = gains(64), rows(32, 64), gains(32)
    pos = np.arange(T)
    win = num.act8_dq(oracle.rope_tail(num.rmsnorm(k, kg, 1e-20), pos, m.freqs[1], 16))
    m.cache[base + "norm.weight"] = rg
    row = rows(T, 64)
    if R == 1:
        m.cache[base + "wkv.weight"] = ident
        _, lat = m.compress(0, row, 0)
    else:
        zero = np.zeros((64, 64), F32)
        m.cache[base + "wkv.weight"] = np.concatenate([ident, zero], 1)
        m.cache[base + "wgate.weight"] = np.concatenate([zero, ident], 1)
        _, lat = m.compress(0, np.concatenate([a, g], 1), 0)
    rpos = np.arange(len(lat)) * R
    key = num.rmsnorm(bf16(num.matmul_t(lat, wk)), keyg, 1e-20)
    key = num.fp4_index(oracle.rope_tail(key, rpos, m.freqs[1], 16))
    kv = num.fp4_kv(oracle.rope_tail(lat, rpos, m.freqs[1], 16))
    save(name, frequency=f(m.freqs[1]), k=b(k), k_gain=b(kg), a=f(a), g=f(g), row=b(row), row_gain=b(rg), wk=b(wk),
         key_gain=b(keyg), window=b(win), latent=b(lat), rows=b(kv), keys=b(key))


def select(name, R, n, itopk, cand_blocks, cand_size, start):
    """Layer 0 writes the candidates, layer 1 reads them; queries at positions start.."""
    T = 11
    m = attention_model(ratios=[R, R], kv_src=[0], itopk=itopk, cand_blocks=cand_blocks, cand_size=cand_size)
    pos = start + np.arange(T)
    nvis = (pos + 1) // R
    key = num.fp4_index(rows(n, 32))
    key[7:12] = key[6]                      # ties
    m.ik[0] = key
    out = {}
    x = [rows(T, 5 * 32), rows(T, 5 * 32)]
    hw = [rows(T, 5), rows(T, 5)]
    scale = F32(32 ** -0.5 * 5 ** -0.5)
    for l in (0, 1):
        m.ql = lambda name, q: q
        m.bl = lambda name, q: q
        base = f"layers.{l}.attn.indexer."
        s = m.index(l, hw[l], x[l], pos, nvis) if int(nvis.max()) else None
        if l == 0:
            cand = m.candidates(0, s, nvis, pos)
        masked = s if l == 0 else np.where(cand, s, oracle.NEG)
        sel = np.full((T, itopk), -1)
        for t in range(T):
            k = min(itopk, int(nvis[t]))
            r = oracle.top_rows(masked[t], k)
            r = r[masked[t][r] > oracle.NEG]
            sel[t, :len(r)] = r
        out[f"q{l}"], out[f"w{l}"], out[f"sel{l}"], out[f"score{l}"] = b(x[l]), b(hw[l]), i(sel), b(s)
        out[f"query{l}"], out[f"weight{l}"] = b(m.trace[f"L{l}.index_q"]), b(m.trace[f"L{l}.index_w"])
    keep = m.trace["L0.cand_blocks"]
    blocks = np.full((T, cand_blocks), -1)
    for t in range(T):
        at = np.nonzero(keep[t])[0]
        blocks[t, :len(at)] = at
    save(name, frequency=f(m.freqs[1]), keys=b(key), blocks=i(blocks), scale=f([scale]),
         shape=i([R, n, itopk, cand_blocks, cand_size, start]), **out)


def attend():
    """Window 70 + up to 130 selected rows of 150: four blocks of 64; queries at 0.. and at 200.., one short list."""
    H, D, W, n = 9, 64, 70, 150
    m = attention_model(win=W)
    pos = np.array([0, 1, 2, 3, 200, 201, 202, 203, 204])
    T = len(pos)
    q, sink = rows(T, H, D), rng.normal(0, 2, H).astype(F32)
    k = num.act8_dq(rows(205, D))
    row = num.fp4_kv(rows(n, D))
    count = np.array([0, 1, 1, 2, 130, 1, 0, 64, 58])
    sel = np.full((T, 130), -1)
    lists = []
    for t in range(T):
        visible = pos[t] + 1 if t < 4 else n
        sel[t, :count[t]] = np.sort(rng.choice(visible, count[t], replace=False))
        lists.append(m.window_list(int(pos[t]), 0, T) + [205 + int(j) for j in sel[t, :count[t]]])
    rot = oracle.rope_tail(q, pos, m.freqs[1], 16)
    core = m.attend(rot, np.concatenate([k, row]), lists, sink)
    o = oracle.rope_tail(core, pos, m.freqs[1], 16, inverse=True)
    save("attend", frequency=f(m.freqs[1]), q=b(q), sink=f(sink), k=b(k), rows=b(row), position=i(pos), count=i(count),
         selected=i(sel), core=b(core), o=b(o))


def moe():
    E, K, D, I, T = 13, 3, 64, 32, 11
    m = model(score="sqrtsoftplus", gate_temp=1.7, norm_topk=True, route_scale=1.5, limit=1.5)
    x, gate = rows(T, D), rows(E, D)
    bias, vl = rng.normal(0, 1, E).astype(F32), rng.normal(0, 1, E).astype(F32)
    bias[5] = bias[9]
    mask = np.arange(T) % 4 == 1
    m.cache["gate.weight"], m.cache["gate.bias"], m.cache["gate.bias_vl"] = gate, bias, vl
    codes, scales = {}, {}
    for e in list(range(E)) + ["shared"]:
        for w, (r, c) in dict(w1=(I, D), w3=(I, D), w2=(D, I)).items():
            cd = rng.integers(0, 256, (r, c // 2)).astype(np.uint8)
            sc = rng.integers(119, 126, (r, c // 32)).astype(np.uint8)
            name = "shared_experts." + w if e == "shared" else f"experts.{e}.{w}"
            m.cache[name] = (unpack_fp4(cd) * np.repeat(decode_e8m0(sc), 32, 1)).astype(F32)
            codes[e, w], scales[e, w] = cd, sc
    m.wq = lambda name: m.cache[name]
    y = m.moe("", x, mask, E, K, "t")

    def pack(d, es, ws):
        return np.concatenate([d[e, w].reshape(-1) for e in es for w in ws])
    logits = num.matmul_t(x, gate)
    every = list(range(E))
    save("moe", x8=b(num.act8_dq(x)), logits=f(logits), bias=f(bias), bias_vl=f(vl), marks=u(mask), experts=i(m.trace["t.experts"]),
         weights=f(m.trace["t.expert_w"]), y=b(y), up_codes=u(pack(codes, every, ["w1", "w3"])),
         up_scales=u(pack(scales, every, ["w1", "w3"])), down_codes=u(pack(codes, every, ["w2"])),
         down_scales=u(pack(scales, every, ["w2"])), shared_up_codes=u(pack(codes, ["shared"], ["w1", "w3"])),
         shared_up_scales=u(pack(scales, ["shared"], ["w1", "w3"])), shared_down_codes=u(pack(codes, ["shared"], ["w2"])),
         shared_down_scales=u(pack(scales, ["shared"], ["w2"])))


def engram():
    T, S, D, C, dim = 6, 4, 32, 3, 64
    m = model(hc=S, dim=D)
    cd = rng.integers(0, 256, (40, dim)).astype(np.uint8)
    cd[(cd & 127) == 127] = 0x42
    sc = rng.integers(118, 130, (40, dim // 32)).astype(np.uint8)
    ids = rng.integers(0, 40, (T, C))
    X, kv = rows(T, S, D), rows(T, (S + 1) * D)
    kv[2, :D] = 0                            # a key of nothing: the gate's root is clamped
    qg, kg = gains(S, D), gains(S, D)
    mask = np.arange(T) == 4
    base = "layers.0.engram."
    m.ck = SimpleNamespace(raw=lambda name: ("", cd if name.endswith("weight") else sc))
    m.cache[base + "q_weight"], m.cache[base + "k_weight"] = qg, kg
    seen = {}
    m.ql = lambda name, e: (seen.update(e=e), kv)[1]
    Y = m.engram(0, X, ids, mask)
    packed = np.concatenate([cd, sc], 1)[ids].reshape(T, -1)
    save("engram", packed=u(packed), embed=b(seen["e"]), y=b(num.act8_dq(seen["e"])), streams=b(X), kv=b(kv), q_gain=b(qg),
         k_gain=b(kg), marks=u(mask), gate=f(m.trace["L0.engram_gate"]), out=b(Y))


hyper()
linear()
remember("remember1", 1, 20)
remember("remember3", 3, 41)
select("select2", 2, 100, 9, 6, 4, 189)
select("select1", 1, 40, 16, 5, 8, 2)
attend()
moe()
engram()
