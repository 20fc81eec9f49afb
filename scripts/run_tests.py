#!/usr/bin/env python3
"""Runs the tests that ctest knows and counts GoogleTest cases.

Usage: run_tests.py BUILD_FOLDER LABELS [NAME...]
LABELS is a regular expression over ctest labels, NAME the ctest name of a program.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

LIMIT_S = 1500  # a program that takes longer hangs


def registered(build, labels, names):
    """The tests of a build: name, command, environment, folder."""
    listing = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True)
    for test in json.loads(listing.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if names and test["name"] not in names:
            continue
        if not any(re.fullmatch(labels, label) for label in properties.get("LABELS", [])):
            continue
        if "command" not in test:
            sys.exit(f"{test['name']}: not built")
        environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        folder = properties.get("WORKING_DIRECTORY", str(build))
        yield test["name"], test["command"], environment, folder


def cases(report):
    """(name, 'passed' | 'failed' | 'skipped', reason) of every case in a GoogleTest report."""
    for suite in report.get("testsuites", []):
        for case in suite["testsuite"]:
            name = f"{suite['name']}.{case['name']}"
            if "failures" in case:
                yield name, "failed", ""
            elif case.get("result") == "SKIPPED":
                yield name, "skipped", case.get("skipped", [{}])[0].get("message", "").strip()
            elif case.get("status") == "RUN":
                yield name, "passed", ""


def run(results, name, command, environment, folder):
    """Runs one program; returns its name, cases, seconds, and what it printed if any case failed."""
    report = results / f"{name}.json"
    report.unlink(missing_ok=True)
    start = time.monotonic()
    try:
        done = subprocess.run(command + [f"--gtest_output=json:{report}", "--gtest_brief=1"], cwd=folder,
                              env={**os.environ, **environment}, stdin=subprocess.DEVNULL, timeout=LIMIT_S,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
        status, printed = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, printed = f"over {LIMIT_S} s", (late.stdout or b"").decode(errors="replace")
    found = list(cases(json.loads(report.read_text()))) if report.exists() else []
    # A crash leaves no report, and a sanitizer may fail a program whose cases all passed.
    if status != 0 and not any(kind == "failed" for _, kind, _ in found):
        found.append((f"{name} (exit status {status})", "failed", ""))
    return name, found, time.monotonic() - start, printed


def main():
    build, labels, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]
    results = build / "test-results"
    results.mkdir(exist_ok=True)
    tests = list(registered(build, labels, names))
    unknown = set(names) - {test[0] for test in tests}
    if unknown:
        sys.exit(f"no such test: {', '.join(sorted(unknown))}")
    # The slow ones first, so that none of them is left to run alone at the end.
    tests.sort(key=lambda test: not test[0].endswith("_slow"))
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(run, results, *test) for test in tests]
        for done in concurrent.futures.as_completed(running):
            name, found, seconds, printed = done.result()
            failed = [case for case, kind, _ in found if kind == "failed"]
            if failed:
                print(printed, file=sys.stderr)
            for case in failed:
                print(f"FAILED {case}", file=sys.stderr)
            if found:
                print(f"time: {name} {seconds:.1f} s, {len(found)} cases", file=sys.stderr)
            outcomes += found
    count = {kind: sum(k == kind for _, k, _ in outcomes) for kind in ("passed", "failed", "skipped")}
    skipped = [f"{case} ({' '.join(reason.split())})" for case, kind, reason in outcomes if kind == "skipped"]
    print(f"{count['skipped']} skipped" + "".join(f"; {case}" for case in sorted(skipped)))
    print(f"{count['passed']} passed, {count['failed']} failed", flush=True)
    sys.exit(1 if count["failed"] or not count["passed"] else 0)


main()
