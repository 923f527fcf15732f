#!/usr/bin/env bash
# mdpcosim as a part of a larger build: add_subdirectory. Without 'whole' the build is only planned.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -S "$source/tests/library/part" -B "$work" -G Ninja -DMDPCOSIM="$source" >"$work/log" 2>&1 || {
    tail "$work/log"
    exit 1
}
if grep -E '^(MDPCOSIM_TESTS|MDPCOSIM_BENCHMARKS|MDPCOSIM_INSTALL):BOOL=ON' "$work/CMakeCache.txt"; then
    echo "a part of a larger build has neither tests nor installs itself" >&2
    exit 1
fi
if [[ ${2:-} != whole ]]; then
    ninja -C "$work" -n thermostat_c thermostat_cpp >/dev/null
    exit
fi
ninja -C "$work" thermostat_c thermostat_cpp >"$work/log" 2>&1 || {
    tail "$work/log"
    exit 1
}
cd "$source/examples/library-client"
[[ $("$work/client/thermostat_c") == "$("$work/client/thermostat_cpp")" ]]
