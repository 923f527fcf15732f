#!/usr/bin/env bash
# The package's tests with the system's Python: run.sh sources|installed BUILD SOURCE
set -euo pipefail
place=$1 build=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=/usr/bin/python3
[[ -x $python ]] || python=python3
export MDPCOSIM_SOURCE=$source PYTHONDONTWRITEBYTECODE=1
if [[ $place == installed ]]; then
    cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }
    export PYTHONPATH=$work/prefix/lib/python3/dist-packages
else
    export PYTHONPATH=$source/python MDPCOSIM_PREFIX=$build
fi
cd "$work"
"$python" "$source/python/test/test_mdpcosim.py"
