#!/usr/bin/env python3
"""Draws what `manyspan bench --trace FILE` wrote as an SVG: a row for each stage's main queue, an operation a bar.

    tools/draw_trace.py trace.json 0 400 > picture.svg        # from the first to the last millisecond, counted from the start
"""
import argparse
import json

WIDTH, ROW, LEFT, TOP = 960, 22, 64, 8


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("trace", metavar="TRACE")
    p.add_argument("first", metavar="FIRST", type=float, help="milliseconds from the start")
    p.add_argument("last", metavar="LAST", type=float)
    a = p.parse_args()
    first, last = a.first, a.last
    with open(a.trace) as file:
        events = json.load(file)["traceEvents"]
    stages = {}
    for e in events:
        if e["ph"] == "M" and e["args"]["name"].endswith(" main"):
            stages[e["tid"]] = e["args"]["name"].removesuffix(" main")
    spans = [e for e in events if e["ph"] == "X" and e["tid"] in stages]
    start = min(e["ts"] for e in spans) / 1000
    height = TOP + ROW * len(stages) + 24
    x = lambda ms: LEFT + (WIDTH - LEFT - 8) * (ms - first) / (last - first)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for i, tid in enumerate(sorted(stages)):
        y = TOP + i * ROW
        out.append(f'<text x="4" y="{y + 14}">{stages[tid]}</text>')
        out.append(f'<rect x="{LEFT}" y="{y}" width="{WIDTH - LEFT - 8}" height="{ROW - 4}" fill="#eee"/>')
        # Operations that follow each other closely are one bar; else a picture would have thousands.
        bars = []
        for e in sorted((e for e in spans if e["tid"] == tid), key=lambda e: e["ts"]):
            a = e["ts"] / 1000 - start
            b = a + e["dur"] / 1000
            if bars and a - bars[-1][1] < (last - first) / 2000:
                bars[-1][1] = max(bars[-1][1], b)
            else:
                bars.append([a, b])
        for a, b in bars:
            a, b = max(a, first), min(b, last)
            if a < b:
                out.append(f'<rect x="{x(a):.1f}" y="{y}" width="{x(b) - x(a):.1f}" height="{ROW - 4}" fill="#38c"/>')
    for k in range(5):
        ms = first + (last - first) * k / 4
        anchor = "start" if k == 0 else "end" if k == 4 else "middle"
        out.append(f'<text x="{x(ms):.0f}" y="{height - 8}" text-anchor="{anchor}">{ms:.0f} ms</text>')
    out.append("</svg>")
    print("\n".join(out))


main()
