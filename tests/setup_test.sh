#!/usr/bin/env bash
# tools/setup against fake dpkg-query, apt-get, id and sudo: what it calls, and how it ends.
#   tests/setup_test.sh SOURCE_DIR
set -euo pipefail

setup=$1/tools/setup
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fake() { # NAME, body from standard input
    { echo "#!$BASH"; cat; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# A machine of its own: only the fakes and the few real programs that the script may use. WITHOUT: packages not installed.
machine() { # root|user
    rm -rf "${work:?}/bin" "$work/calls" "$work/lists"
    mkdir "$work/bin"
    : >"$work/calls"
    : >"$work/lists" # package lists are there
    ln -s "$BASH" "$work/bin/bash"
    ln -s "$(command -v env)" "$work/bin/env"
    ln -s "$(command -v touch)" "$work/bin/touch"
    fake dpkg-query <<'END'
shift 3  # -W -f FORMAT
status=0
for name in "$@"; do
    case " $WITHOUT " in
        *" $name "*) echo "dpkg-query: no packages found matching $name" >&2; status=1 ;;
        *" removed:$name "*) echo "config-files $name" ;;
        *) echo "installed $name" ;;
    esac
done
exit $status
END
    fake apt-get <<'END'
echo "apt-get frontend=${DEBIAN_FRONTEND:-} $*" >>"$WORK/calls"
case " $* " in
    *" update "*) touch "$WORK/lists"; [[ -z ${FAIL_UPDATE:-} ]] ;;
    *) [[ -e $WORK/lists ]] && { [[ " $* " == *" --dry-run "* ]] || [[ -z ${FAIL_INSTALL:-} ]]; } ;;
esac
END
    fake id <<<"$([[ $1 == root ]] && echo 'echo 0' || echo 'echo 1000')"
}
with_sudo() {
    fake sudo <<'END'
echo "sudo $1" >>"$WORK/calls"
exec "$@"
END
}

run() { # arguments of tools/setup; leaves $status, $output, and the calls in $work/calls
    status=0
    output=$(PATH=$work/bin WORK=$work WITHOUT=${without:-} FAIL_UPDATE=${fail_update:-} FAIL_INSTALL=${fail_install:-} \
        "$BASH" "$setup" "$@" 2>&1) || status=$?
}

expect() { # DESCRIPTION CONDITION...
    local what=$1
    shift
    if ! "$@"; then
        echo "FAILED: $what"
        echo "  status $status, output: $output"
        echo "  calls: $(cat "$work/calls")"
        failures=$((failures + 1))
    fi
}
called() { grep -q -- "$1" "$work/calls"; }
not_called() { ! called "$1"; }
says() { [[ $output == *"$1"* ]]; }

machine root
without="" run build test
expect "nothing missing: status 0" [ "$status" = 0 ]
expect "nothing missing: silent" [ -z "$output" ]
expect "nothing missing: no apt-get" [ ! -s "$work/calls" ]
without="" run --check build
expect "check, nothing missing: status 0 and silent" [ "$status$output" = 0 ]

machine root
without="libfmt-dev removed:cmake" run build
expect "root: status 0" [ "$status" = 0 ]
expect "root: installs exactly what is missing" called "install --yes --no-install-recommends cmake libfmt-dev$"
expect "root: asks nothing" called "frontend=noninteractive"
expect "root: no update while the lists serve" not_called update
expect "root: says what it installs" says "cmake libfmt-dev"

machine root
without="libgtest-dev" run build
expect "a package of another group is left alone" [ ! -s "$work/calls" ]
without="libgtest-dev" run --check build test
expect "check: names the package, status 1" [ "$status$output" = 1libgtest-dev ]
expect "check: installs nothing" [ ! -s "$work/calls" ]

machine root
rm "$work/lists"
without="libfmt-dev" run build
expect "no package lists: updates, then installs" called "update$"
expect "no package lists: status 0" [ "$status" = 0 ]
expect "no package lists: one update" [ "$(grep -c 'update$' "$work/calls")" = 1 ]

machine root
without="libfmt-dev" fail_install=yes run build
expect "failing download: one update, two tries" [ "$(grep -c 'update$' "$work/calls")" = 1 ]
expect "failing download: status 1" [ "$status" = 1 ]
expect "failing download: says which" says "could not install: libfmt-dev"

machine root
rm "$work/lists"
without="libfmt-dev" fail_update=yes run build
expect "failing update: not status 0" [ "$status" != 0 ]

machine user
with_sudo
without="libfmt-dev" run build
expect "sudo: status 0" [ "$status" = 0 ]
expect "sudo: through sudo" called "^sudo env"
expect "sudo: asks nothing" called "frontend=noninteractive.*install.*libfmt-dev"

machine user
without="libfmt-dev" run build
expect "neither root nor sudo: status 1" [ "$status" = 1 ]
expect "neither root nor sudo: no apt-get" [ ! -s "$work/calls" ]
expect "neither root nor sudo: says what is needed" says "needs root or sudo: libfmt-dev"

machine root
rm "$work/bin/dpkg-query"
run build
expect "not Debian: goes on" [ "$status" = 0 ]
expect "not Debian: says so" says "not a Debian system"

# The page's packages: a copy of the script beside a web/ of its own.
own=$work/copy
mkdir -p "$own/tools" "$own/web"
cp "$setup" "$own/tools/setup"
: >"$own/web/package-lock.json"
real=$setup
setup=$own/tools/setup
with_node() {
    fake node <<<''
    fake npm <<'END'
echo "npm $*" >>"$WORK/calls"
[[ -z ${FAIL_INSTALL:-} ]]
END
}
machine root
with_node
run --check web
expect "web, check: says what is missing" [ "$status$output" = 1web/node_modules ]
without="nodejs npm" run web
expect "web: status 0" [ "$status" = 0 ]
expect "web: Node.js from elsewhere is taken" not_called apt-get
expect "web: as the lock file says, and no scripts" called "npm ci .*--ignore-scripts"
fail_install=yes run web
expect "web, no network: status 1" [ "$status" = 1 ]
expect "web, no network: says so" says "could not be brought"
mkdir -p "$own/web/node_modules"
touch -d "+1 minute" "$own/web/node_modules/.package-lock.json"
: >"$work/calls"
run web
expect "web, packages there: silent, nothing called" [ "$status$output$(cat "$work/calls")" = 0 ]
machine root
without="nodejs npm" run web
expect "web, no Node.js: installs it" called "install --yes --no-install-recommends nodejs npm$"
setup=$real

machine root
run nonsense
expect "unknown group: status 2" [ "$status" = 2 ]
expect "unknown group: names the groups" says "build, web, test, browser, octave, mpi, multibody, ssh, format, tidy"

((failures == 0)) && echo "tools/setup: all as expected"
