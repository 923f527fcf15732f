#!/usr/bin/env bash
# What no binary may lack or have (docs/decisions/0032): reads every program and library under FOLDER.
#   tests/binaries_test.sh FOLDER [SCENARIO]
# With a scenario the folder is that of a build: its program must not take libraries from the folder it is started in.
set -euo pipefail
shopt -s inherit_errexit

folder=$1
count=0 failures=0
complain() {
    echo "$1: $2" >&2
    failures=$((failures + 1))
}

# Programs and libraries of the build itself: CMake's own trials are none of them.
while IFS= read -r file; do
    [[ $(head -c 4 "$file" | od -An -c | tr -d ' ') == '177ELF' ]] || continue
    header=$(readelf -hW "$file")
    [[ $header =~ Type:[[:space:]]+(DYN|EXEC) ]] || continue
    count=$((count + 1))
    [[ ${BASH_REMATCH[1]} == DYN ]] || complain "$file" 'is no position-independent program'
    dynamic=$(readelf -dW "$file")
    while IFS= read -r path; do
        IFS=: read -r -a entries <<<"$path:end"
        for entry in "${entries[@]:0:${#entries[@]}-1}"; do
            [[ $entry == /* || $entry == '$ORIGIN'* ]] || complain "$file" "its search path '$path' has the entry '$entry'"
        done
    done < <(sed -n 's/.*(R\(UN\)\?PATH).*\[\(.*\)\]/\2/p' <<<"$dynamic")
    grep -qE 'BIND_NOW|FLAGS_1.*NOW' <<<"$dynamic" || complain "$file" 'functions are not bound at the start (-z now)'
    segments=$(readelf -lW "$file")
    grep -q GNU_RELRO <<<"$segments" || complain "$file" 'tables of addresses stay writable (-z relro)'
    ! grep -qE 'GNU_STACK.* RWE' <<<"$segments" || complain "$file" 'its stack can be executed'
    # Small files have nothing to protect.
    case ${file##*/} in
        mdpcosim | mdpcosim-host | mdpcosim-fmu.so | mdpcosim-multibody.so | libmdpcosim.so.*.*.* | libmdpcosim_subsystem.so.1)
            symbols=$(readelf --dyn-syms -W "$file")
            grep -q __stack_chk_fail <<<"$symbols" || complain "$file" 'has no stack protector'
            grep -qE '__[a-z]+_chk@' <<<"$symbols" || complain "$file" 'has no checked library calls (_FORTIFY_SOURCE)'
            ;;
    esac
done < <(find "$folder" -type f \( -perm -u+x -o -name '*.so' -o -name '*.so.*' -o -name '*.mex' \) \
    -not -path '*/CMakeFiles/*' -not -path '*/CMakeScratch/*')
((count > 0)) || complain "$folder" 'there is no binary'
echo "$count binaries read"

if [[ $# -gt 1 ]]; then
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    cp "$2" "$place/scenario.yaml"
    for name in $(readelf -dW "$folder/mdpcosim" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
        echo 'not a library' >"$place/$name"
    done
    (cd "$place" && "$folder/mdpcosim" check scenario.yaml >/dev/null) || complain "$folder/mdpcosim" 'takes libraries from the folder it is started in'
fi
((failures == 0))
