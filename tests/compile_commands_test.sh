#!/usr/bin/env bash
# Editors know every source file of the tree, by itself, with the flags of the release build.
#   tests/compile_commands_test.sh SOURCE_DIR
set -euo pipefail
cd "$1"

cmake --preset sources >/dev/null
commands=build/sources/compile_commands.json
missing=0
# Built only where a library that nothing else needs is installed.
optional='-not -name lemke_long_test.cpp'
while read -r file; do
    grep -q "\"file\": \"$PWD/$file\"" "$commands" || { echo "$file: not in $commands"; missing=1; }
done < <(find src models tests bench examples -name '*.cpp' -not -path 'tests/library/*' -not -path 'examples/library-client/*' $optional)
grep -q '"command": "[^"]* -O2 [^"]*src/coupling/network.cpp"' "$commands" || { echo "network.cpp: not as the release build compiles it"; missing=1; }
exit $missing
