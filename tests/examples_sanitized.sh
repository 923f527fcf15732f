#!/bin/bash
# Every example with the whole program, which a sanitizer watches: examples_sanitized.sh PROGRAM SOURCES [SECONDS for each]
set -uo pipefail
program=$1
sources=$2
seconds=${3:-1200}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failures=0
for scenario in "$sources"/examples/*/*.yaml; do
    grep -q '^subsystems:' "$scenario" || continue
    if grep -q octave-cli "$scenario" && ! command -v octave-cli >/dev/null; then
        echo "$scenario: skipped, there is no Octave"
        continue
    fi
    if grep -q 'model: multibody' "$scenario"; then
        echo "$scenario: skipped, sanitized builds have no Simbody"
        continue
    fi
    begin=$SECONDS
    # Status 3: a result that is judged, which an example may show.
    timeout "$seconds" "$program" run "$scenario" --out "$out/run" --quiet --no-verify >"$out/text" 2>&1
    status=$?
    if { [[ $status != 0 && $status != 3 ]] || grep -qE 'Sanitizer|runtime error:' "$out/text"; }; then
        echo "$scenario: status $status after $((SECONDS - begin)) s"
        head -c 3000 "$out/text"
        failures=$((failures + 1))
    else
        echo "$scenario: $((SECONDS - begin)) s"
    fi
    rm -rf "$out/run"
done
exit $((failures > 0))
