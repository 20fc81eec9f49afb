#!/usr/bin/env python3
"""Writes src/text/unicode_table.cc from a file of class ranges.

Usage: make_unicode_table.py unicode_classes.json > src/text/unicode_table.cc

The input holds {"ranges": {"N" | "L" | "M" | "P" | "S" | "s": [[first, last], ...]}}. The output lists each
code point at which the class changes, and the class from there on.
"""
import json
import sys

CLASSES = {"N": 1, "L": 2, "M": 3, "P": 4, "S": 5, "s": 6}  # the order of CharClass in unicode.h
CODES = 0x110000
PER_LINE = 9

with open(sys.argv[1], encoding="utf-8") as file:
    ranges = json.load(file)["ranges"]
classes = bytearray(CODES)
for name, spans in ranges.items():
    for first, last in spans:
        assert not any(classes[first : last + 1]), f"{name} {first:X} overlaps another class"
        classes[first : last + 1] = bytes([CLASSES[name]]) * (last + 1 - first)
changes = [(code, classes[code]) for code in range(CODES) if code == 0 or classes[code] != classes[code - 1]]

print("// Written by tools/make_unicode_table.py: Unicode 16.0 general categories N, L, M, P, S, and white space.")
print('#include "text/unicode_table.h"\n')
print("namespace manyspan::text {\n")
print("// clang-format off")
print(f"const std::array<std::uint32_t, {len(changes)}> kClassChanges = {{{{")
words = [f"0x{code << 3 | kind:06x}," for code, kind in changes]
for start in range(0, len(words), PER_LINE):
    print("    " + " ".join(words[start : start + PER_LINE]))
print("}};")
print("// clang-format on\n")
print("}  // namespace manyspan::text")
