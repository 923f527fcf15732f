#!/usr/bin/env bash
# The library's core links nothing that only programs need, and works without.
#   core_program.sh PROGRAM
set -euo pipefail
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if grep -E 'hdf5|hwloc|udunits|mpi' <<<"$needed"; then
    echo "core_program links what only programs need" >&2
    exit 1
fi
"$1"
