#!/usr/bin/env python3
"""The list of parts (mdpcosim.spdx.json) against what the binaries need.

    tests/sbom_test.py BUILD
"""
import json
import pathlib
import re
import subprocess
import sys

build = pathlib.Path(sys.argv[1])
document = json.loads((build / "mdpcosim.spdx.json").read_text())
problems = []

for key in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo", "packages", "relationships"):
    if key not in document:
        problems.append(f"'{key}' is missing")
identifiers = [package["SPDXID"] for package in document["packages"]]
if len(identifiers) != len(set(identifiers)):
    problems.append("an SPDXID stands twice")
for package in document["packages"]:
    if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", package["SPDXID"]):
        problems.append(f"{package['SPDXID']} is no SPDXID")
    for key in ("name", "versionInfo", "downloadLocation", "licenseConcluded"):
        if not package.get(key):
            problems.append(f"{package['SPDXID']} has no '{key}'")
    if not re.search(r"\d", package["versionInfo"]):
        problems.append(f"{package['SPDXID']} has the version '{package['versionInfo']}'")
for relation in document["relationships"]:
    for end in ("spdxElementId", "relatedSpdxElement"):
        if relation[end] not in identifiers + ["SPDXRef-DOCUMENT"]:
            problems.append(f"a relation names {relation[end]}, which is not there")
related = {relation["relatedSpdxElement"] for relation in document["relationships"]}
problems += [f"{name} is related to nothing" for name in identifiers if name not in related]

listed = {package.get("packageFileName") for package in document["packages"]}
binaries = [build / "mdpcosim", build / "mdpcosim-host", *(build / "lib").glob("*.so*"), *build.glob("mdpcosim-*.so"),
            *(build / "lib/mdpcosim").glob("*.mex")]
for binary in binaries:
    dynamic = subprocess.run(["readelf", "-dW", binary], capture_output=True, text=True, check=True).stdout
    for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if needed not in listed and not needed.startswith("libmdpcosim"):
            problems.append(f"{binary} needs {needed}, which is not listed")

print(f"{len(identifiers)} packages, {len(binaries)} binaries")
for problem in problems:
    print(problem, file=sys.stderr)
sys.exit(1 if problems or len(binaries) < 4 else 0)
