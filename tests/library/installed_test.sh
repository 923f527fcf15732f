#!/usr/bin/env bash
# Clients in C and C++ against an installed mdpcosim that was moved: with CMake, with pkg-config, from another folder, as another user.
set -euo pipefail
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
fail() {
    echo "$*" >&2
    exit 1
}

cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || fail "$(tail "$work/log")"
mv "$work/first" "$work/prefix"
prefix=$work/prefix
for file in bin/mdpcosim libexec/mdpcosim/mdpcosim-host lib/libmdpcosim.so.1 lib/libmdpcosim_subsystem.so.1 include/mdpcosim/mdpcosim.h \
    include/mdpcosim/plugin.h lib/cmake/mdpcosim/mdpcosim-config-version.cmake lib/pkgconfig/mdpcosim.pc \
    lib/cmake/mdpcosim_subsystem/mdpcosim_subsystem-config-version.cmake share/doc/mdpcosim/LICENSE share/doc/mdpcosim/THIRD-PARTY.md; do
    [[ -e $prefix/$file ]] || fail "$file is not installed"
done
"$source/tests/binaries_test.sh" "$prefix" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
# The library shows its C functions, and nothing else.
shown=$(nm -D --defined-only "$prefix/lib/libmdpcosim.so.1" | awk '$2 ~ /[A-Z]/ {print $3}' | grep -v '^mdpcosim_' || true)
[[ -z $shown ]] || fail "libmdpcosim shows $shown"

cp -r "$source/examples/library-client" "$work/client"
cp "$source/tests/library/cpp_interface.cpp" "$work/client"
cd "$work/client"
cmake -S . -B build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 && cmake --build build >>"$work/log" 2>&1 || fail "$(tail "$work/log")"
if cmake -S . -B other -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_PROJECT_INCLUDE=<(echo 'find_package(mdpcosim 99 REQUIRED)') >/dev/null 2>&1; then
    fail "version 99 was found"
fi
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
flags="$(pkg-config --cflags --libs mdpcosim) -Wl,-rpath,$prefix/lib"
# shellcheck disable=SC2086
{
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror client.c $flags -o with_pkg_config
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror cpp_interface.cpp $flags -o cpp_interface
}
[[ $(pkg-config --modversion mdpcosim_subsystem) == $(pkg-config --modversion mdpcosim) ]] || fail "two versions"

expected=$(build/thermostat_c)
[[ $expected == "120.0 min: "*" degC in the room, "* ]] || fail "thermostat_c says: $expected"
cd /
as_other=()
if [[ $(id -u) == 0 ]]; then as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/); fi
for program in build/thermostat_cpp with_pkg_config build/thermostat_c; do
    said=$("${as_other[@]}" "$work/client/$program" "$work/client/scenario.yaml")
    [[ $said == "$expected" ]] || fail "$program says: $said instead of: $expected"
done
"${as_other[@]}" "$work/client/cpp_interface"
"${as_other[@]}" "$prefix/bin/mdpcosim" --version | head -n 1

# The library is opened at run time, too; and the program finds what it puts into FMUs.
"${as_other[@]}" python3 -c "import ctypes; assert ctypes.CDLL('$prefix/lib/libmdpcosim.so.1').mdpcosim_time(None) is not None"
if [[ -e $build/mdpcosim-fmu.so ]]; then
    "$prefix/bin/mdpcosim" export fmu "$source/examples/two-mass/scenario.yaml" --out "$work/two.fmu" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
fi

# What cannot be written is said, with a status.
if cmake --install "$build" --prefix /proc/mdpcosim >"$work/log" 2>&1; then fail "/proc was written to"; fi
grep -q /proc/mdpcosim "$work/log" || fail "the prefix is not named: $(tail -n 3 "$work/log")"
