#!/usr/bin/env bash
# tools/check_layers finds planted violations and lets right trees pass.
#   tests/layers_selftest.sh SOURCE_DIR
set -euo pipefail

check=$1/tools/check_layers
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

write() { # FILE LINE...
    mkdir -p "$tree/$(dirname "$1")"
    printf '%s\n' "${@:2}" >"$tree/$1"
}
fresh() {
    rm -rf "${tree:?}/src" "$tree/models"
    write src/core/a.hpp '#pragma once' '#include <vector>'
    write src/scenario/b.cpp '#include "scenario/b.hpp"' '' '#include <string>' '#include "core/a.hpp"'
    write src/core/test/a_test.cpp '#include "core/test/helper.hpp"' '#include "core/a.hpp"'
    write src/simulation/run.cpp '#include "master/loop.hpp"' '#include "scenario/b.hpp"' '#include "results/csv.hpp"'
    write src/cli/run.cpp '#include "simulation/run.hpp"' '#include "core/error.hpp"' '#include "cli/commands.hpp"'
    write models/mass/mass.cpp '#include "subsystem/model.hpp"' '// #include "master/loop.hpp" is not for models'
}
passes() { # WHAT
    if ! output=$("$check" "$tree"); then
        printf 'FAILED: %s should pass\n%s\n' "$1" "$output"
        failures=$((failures + 1))
    fi
}
finds() { # WHAT TEXT
    if output=$("$check" "$tree") || [[ $output != *"$2"* ]]; then
        printf 'FAILED: %s should be found with "%s"\n%s\n' "$1" "$2" "$output"
        failures=$((failures + 1))
    fi
}

fresh
passes "a tree in order"

write src/core/bad.hpp '#pragma once' '#include <vector>' '#include "scenario/b.hpp"'
finds "core on scenario" 'src/core/bad.hpp:3: core must not include "scenario/b.hpp"; core may include: no other room'

fresh
write src/coupling/bad.cpp '#  include "subsystem/subsystem.hpp"  // spaces do not hide it'
finds "coupling on subsystem" 'src/coupling/bad.cpp:1: coupling must not include "subsystem/subsystem.hpp"; coupling may include: core'

fresh
write src/core/bad.cpp '#include <simulation/run.hpp>'
finds "angle brackets" 'src/core/bad.cpp:1: core must not include "simulation/run.hpp"'

fresh
write src/cli/bad.cpp '#include "core/error.hpp"' '#include "master/loop.hpp"'
finds "cli past the facade" 'src/cli/bad.cpp:2: cli must not include "master/loop.hpp"; cli may include: core, assembly, simulation'

fresh
write models/mass/bad.cpp '#include "coupling/law.hpp"'
finds "a model on coupling" 'models/mass/bad.cpp:1: models must not include "coupling/law.hpp"'

fresh
write src/transport/deep/bad.cpp '#include "master/loop.hpp"'
finds "a file in a deeper folder" 'src/transport/deep/bad.cpp:1: transport must not include'

fresh
write src/subsystem/test/bad_test.cpp '#include "core/test/helper.hpp"'
finds "test headers of another room" 'src/subsystem/test/bad_test.cpp:1: "core/test/helper.hpp" belongs to the tests of core'

fresh
write src/core/bad.cpp '#include "core/test/helper.hpp"'
finds "test headers outside of tests" 'src/core/bad.cpp:1: "core/test/helper.hpp" belongs to the tests of core'

fresh
write src/core/bad.cpp '#include "../scenario/b.hpp"'
finds "a way around by .." 'src/core/bad.cpp:1: include of "../scenario/b.hpp" leaves its folder'

fresh
write src/utils/strings.hpp '#pragma once'
finds "a room without a line" 'src/utils/strings.hpp:1: room "utils" has no line'

fresh
write src/core/bad1.cpp '#include "cli/a.hpp"'
write src/scenario/bad2.cpp '#include "cli/a.hpp"'
finds "every violation" '2 violation(s)'

((failures == 0)) && echo "tools/check_layers: all as expected"
