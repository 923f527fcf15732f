#!/usr/bin/env bash
# tcp through ssh, as SECURITY.md shows it: an ssh server of the test's own on this machine, with keys of its own, carries the connection of
# a subsystem; the results are those of threads to the last bit. Who has another key, or meets another server, gets no tunnel.
#   tests/ssh_test.sh PROGRAM          skipped (status 77) where there is no sshd
set -euo pipefail

program=$(realpath "$1")
sshd=$(PATH=$PATH:/usr/sbin command -v sshd) && command -v ssh ssh-keygen >/dev/null || { echo "no ssh server: tools/setup ssh"; exit 77; }

folder=$(mktemp -d)
started=()
trap 'for p in "${started[@]}"; do kill "$p" 2>/dev/null || true; wait "$p" 2>/dev/null || true; done; rm -rf "$folder"' EXIT
cd "$folder"
chmod 700 .

fail() { echo "ssh_test: $*" >&2; cat ./*.log >&2 || true; exit 1; }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# Until the command succeeds, half a minute at most.
patiently() { for _ in $(seq 300); do if "$@" 2>/dev/null; then return 0; fi; sleep 0.1; done; return 1; }
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1"); }

for key in host user stranger; do ssh-keygen -q -t ed25519 -N '' -f $key; done
cp user.pub authorized
server=$(free_port) run=$(free_port) tunnel=$(free_port)
[[ $(id -u) != 0 ]] || mkdir -p /run/sshd
cat > sshd.conf <<END
ListenAddress 127.0.0.1:$server
HostKey $folder/host
AuthorizedKeysFile $folder/authorized
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
PidFile none
END
"$sshd" -D -e -f "$folder/sshd.conf" 2>sshd.log &
started+=($!)
patiently listens "$server" || fail "the ssh server does not listen"
echo "[127.0.0.1]:$server $(cut -d' ' -f1,2 host.pub)" > known
echo "[127.0.0.1]:$server $(cut -d' ' -f1,2 stranger.pub)" > known_otherwise

# ssh_as KEY KNOWN [OPTIONS]
ssh_as() {
    local key=$1 known=$2
    shift 2
    ssh -F none -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes -o GlobalKnownHostsFile=none -o UserKnownHostsFile="$folder/$known" \
        -o ExitOnForwardFailure=yes -i "$folder/$key" -p "$server" "$@" "$(id -un)@127.0.0.1"
}

cat > s.yaml <<END
time: {end: 0.5 s, step: 1 ms}
subsystems:
  a: {model: mass-spring-damper, set: {stiffness: 1 kN/m, x0: 1 m}, solver: rk4}
  b: {model: mass-spring-damper, set: {stiffness: 2 kN/m}, solver: rk4}
connections:
  rod: {law: spring, between: [a.mass, b.mass], stiffness: 300 N/m}
END
"$program" run s.yaml --out threads.out --quiet || fail "the run on threads"

if ssh_as stranger known -N -L "$tunnel:127.0.0.1:$run" 2>stranger.log; then fail "a stranger's key was taken"; fi
grep -q "Permission denied" stranger.log || fail "a stranger's key was refused for another reason"
if ssh_as user known_otherwise -N -L "$tunnel:127.0.0.1:$run" 2>server.log; then fail "another server was believed"; fi
grep -q "Host key verification failed" server.log || fail "another server was refused for another reason"

"$program" run s.yaml --out tcp.out --quiet --transport tcp --remote b --listen "127.0.0.1:$run" --token-file token 2>run.log &
master=$!
started+=($master)
patiently test -s token || fail "the run leaves no token"
ssh_as user known -N -L "$tunnel:127.0.0.1:$run" 2>tunnel.log &
started+=($!)
patiently listens "$tunnel" || fail "there is no tunnel"
"$program" serve s.yaml b --connect "127.0.0.1:$tunnel" --token-file token 2>serve.log || fail "serve ended with status $?"
wait "$master" || fail "the run ended with status $?"
cmp threads.out/results.csv tcp.out/results.csv || fail "the results differ"
grep -q "Accepted publickey" sshd.log || fail "nothing went through ssh"
[[ ! -e token ]] || fail "the token's file is left"
echo "tcp through ssh: as on threads"
