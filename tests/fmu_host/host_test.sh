#!/usr/bin/env bash
# An exported scenario in a host that is not ours (host.c), in a root folder that holds the C library and nothing else: the rows are those of the
# scenario, bit by bit. The library needs nothing else and shows nothing but FMI; sizes and instructions are within their bounds.
# A single subsystem as FMI 3.0 in host_3.c: by co-simulation, and by Euler's method of the host.
#   tests/fmu_host/host_test.sh PROGRAM HOST SOURCE_FOLDER HOST_3
set -euo pipefail
shopt -s inherit_errexit
program=$1 host=$2 source=$3 host_3=$4
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
failures=0
complain() {
    echo "$1" >&2
    failures=$((failures + 1))
}

scenario=$source/examples/two-mass/scenario.yaml
"$program" export fmu "$scenario" --out "$place/two.fmu" >/dev/null
size=$(stat -c %s "$place/two.fmu")
((size <= 6000000)) || complain "two.fmu has $size bytes, more than 6 MB"

# A root of its own: the FMU unpacked, the host, and what the C library consists of.
root=$place/root
mkdir -p "$root/fmu"
python3 -m zipfile -e "$place/two.fmu" "$root/fmu"
library=$root/fmu/binaries/linux64/two.so
cp "$host" "$root/host"
cp "$host_3" "$root/host_3"
while read -r file; do
    mkdir -p "$root$(dirname "$file")"
    cp -L "$file" "$root$file"
done < <(ldd "$host" "$library" | grep -oE '/[^ ]*/(ld-linux[^ ]*|lib(c|m|dl|pthread)\.so[^ ]*)' | sort -u)

needed=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[[ -n $needed ]] || complain 'readelf shows no library that it needs'
for name in $needed; do
    [[ $name =~ ^(libc|libm|libdl|libpthread|ld-linux[^.]*)\.so\.[0-9]+$ ]] || complain "the FMU's library needs $name"
done
! readelf -dW "$library" | grep -q STATIC_TLS || complain 'the library takes static thread storage, of which hosts have little'
strange=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -vE '^fmi[23][A-Z]' || true)
[[ -z $strange ]] || complain "the FMU's library shows $strange"

# As root in that folder; a user is root in a name space of his own, where the system allows it. Status 1 is the host's own.
enter=(chroot "$root")
((EUID == 0)) || enter=(unshare --user --map-root-user chroot "$root")
status=0
"${enter[@]}" /host 2>/dev/null || status=$?
if ((status != 1)); then
    echo 'no root folder of its own is allowed here: the host runs beside everything else'
    enter=(env -i)
fi
in_root() { # ARGUMENT... of the host
    run_in_root host "$@"
}
run_in_root() { # PROGRAM ARGUMENT...
    local name=$1
    shift
    if [[ ${enter[0]} == env ]]; then
        local arguments=("$@")
        arguments=("${arguments[@]//\/fmu3\//$root/fmu3/}")
        env -i "$root/$name" "${arguments[@]//\/fmu\//$root/fmu/}"
    else
        "${enter[@]}" "/$name" "$@"
    fi
}

token=$(sed -n 's/.*guid="\([^"]*\)".*/\1/p' "$root/fmu/modelDescription.xml")
"$program" run "$scenario" --out "$place/native" --quiet --set 'record.every=1 ms' >/dev/null
IFS=, read -r -a names < <(head -n 1 "$place/native/results.csv")
references=()
for ((i = 1; i < ${#names[@]}; ++i)); do references+=("$i"); done

# Three instances at the same time in threads; each is saved in the middle, goes on, and is put back.
in_root /fmu/binaries/linux64/two.so file:///fmu/resources "$token" 0.001 2000 3 "${references[@]}" >"$place/rows" ||
    complain "the host ended with status $?"
python3 - "$place" <<'EOF' || complain 'the rows are not those of the scenario'
import csv, sys
place = sys.argv[1]
native = list(csv.reader(open(place + "/native/results.csv")))[1:]
hosted = list(csv.reader(open(place + "/rows")))
assert len(native) == len(hosted) == 2001, (len(native), len(hosted))
for a, b in zip(native, hosted):
    assert [float(x) for x in a[1:]] == [float(x) for x in b[1:]], (a, b)
assert float(native[-1][1]) != float(native[0][1])
EOF

# A single subsystem, FMI 3.0.
for solver in rk4 '{name: euler, step: 1 ms}'; do
    cat >"$place/one.yaml" <<END
time: {end: 0.5 s, step: 1 ms}
subsystems: {a: {model: mass-spring-damper, set: {mass: 2 kg, stiffness: 500 N/m, cubic-stiffness: 40, x0: 10 mm}, solver: $solver}}
END
    "$program" export fmu "$place/one.yaml" --subsystem a --fmi 3 --out "$place/one.fmu" >/dev/null
    rm -rf "$root/fmu3"
    mkdir "$root/fmu3"
    python3 -m zipfile -e "$place/one.fmu" "$root/fmu3"
    token_3=$(sed -n 's/.*instantiationToken="\([^"]*\)".*/\1/p' "$root/fmu3/modelDescription.xml")
    "$program" run "$place/one.yaml" --out "$place/one" --quiet
    kind=cs
    [[ $solver == rk4 ]] || kind=me
    run_in_root host_3 /fmu3/binaries/x86_64-linux/one.so /fmu3/resources "$token_3" $kind 0.001 500 1 2 3 >"$place/rows" ||
        complain "host_3, $kind, ended with status $?"
    python3 - "$place" <<'EOF' || complain "the rows of host_3, $kind, are not those of the subsystem"
import csv, sys
place = sys.argv[1]
native = list(csv.reader(open(place + "/one/results.csv")))[1:]
hosted = list(csv.reader(open(place + "/rows")))
assert len(native) == len(hosted) == 501, (len(native), len(hosted))
for a, b in zip(native, hosted):
    assert [float(x) for x in a[1:]] == [float(x) for x in b[1:]], (a, b)
assert float(native[-1][1]) != float(native[0][1])
EOF
done

# Another token, other resources: refused with words, nothing crashes.
if in_root /fmu/binaries/linux64/two.so file:///fmu/resources wrong 0.001 1 1 1 2>"$place/err"; then complain 'a wrong token passes'; fi
grep -q 'those of another FMU' "$place/err" || complain "a wrong token: $(cat "$place/err")"
if in_root /fmu/binaries/linux64/two.so file:///nowhere "$token" 0.001 1 1 1 2>"$place/err"; then complain 'no resources pass'; fi
grep -q "resources cannot be read: '/nowhere/variables.txt'" "$place/err" || complain "no resources: $(cat "$place/err")"

# A multibody system brings its module along. Simbody is not in a folder of its own: beside everything else, but far from the program.
if [[ -e $(dirname "$program")/mdpcosim-multibody.so ]]; then
    "$program" export fmu "$source/examples/servo-steering/scenario.yaml" --subsystem car --out "$place/car.fmu" >/dev/null
    python3 -m zipfile -e "$place/car.fmu" "$place/car"
    car_token=$(sed -n 's/.*guid="\([^"]*\)".*/\1/p' "$place/car/modelDescription.xml")
    number() { tr '\n' ' ' <"$place/car/modelDescription.xml" | grep -oE "name=\"$1\"[^>]*valueReference=\"[0-9]+" | grep -oE '[0-9]+$'; }
    env -i "$root/host" "$place/car/binaries/linux64/car.so" "file://$place/car/resources" "$car_token" 0.001 200 2 \
        "$(number rack.position)" "$(number 'tyre_left.force.2.')" >"$place/rows" || complain "the host of the car ended with status $?"
    printf 'subsystems: {car: {include: %s/examples/servo-steering/parts/car.yaml, solver: {name: erk-5, rtol: 1e-7, atol: 1e-9}}}\ntime: {end: 0.2 s, step: 1 ms}\n' "$source" >"$place/alone.yaml"
    "$program" run "$place/alone.yaml" --out "$place/alone" --quiet --set 'record.every=1 ms' >/dev/null
    python3 - "$place" <<'EOF' || complain 'the rows of the car are not those of the scenario'
import csv, sys
place = sys.argv[1]
native = list(csv.DictReader(open(place + "/alone/results.csv")))
hosted = list(csv.reader(open(place + "/rows")))
assert len(native) == len(hosted) == 201, (len(native), len(hosted))
for a, b in zip(native, hosted):
    assert [float(a["car.rack.position"]), float(a["car.tyre_left.force[2]"])] == [float(x) for x in b[1:]], (a["time"], b)
assert float(hosted[-1][2]) > 3000
EOF
fi

# What a step costs in instructions, against the same scenario run directly.
if command -v valgrind >/dev/null; then
    instructions() { # COMMAND...
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
            sed -n 's/.*Collected : //p' | sort -n | tail -n 1
    }
    hosted() { instructions "$host" "$library" "file://$root/fmu/resources" "$token" 0.001 "$1" -1 "${references[@]}"; }
    direct() {
        instructions --trace-children=yes "$program" run "$scenario" --end "$1" --set 'record.every=1 ms' --workers 1 --quiet --out "$place/cost"
    }
    a=$((($(hosted 600) - $(hosted 200)) / 400)) b=$((($(direct 0.6) - $(direct 0.2)) / 400))
    echo "instructions per step: $a in the FMU, $b directly"
    ((a * 10 <= b * 12)) || complain "a step of the FMU takes $a instructions, one of the scenario $b"
fi
((failures == 0))
