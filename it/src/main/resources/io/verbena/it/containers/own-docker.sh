# SPDX-License-Identifier: Apache-2.0
# A Docker daemon of its own, for as long as standard input stays open. Run by OwnDocker, as: bash -c SCRIPT own-docker
#
# It writes "ready SOCKET" once the daemon listens. Exit codes: 77 if it cannot run on this machine, the last line on
# standard error says why; else 0.
#
# The daemon runs in namespaces of its own (processes, mounts, network, IPC). So it sees no other daemon, bridges and
# packet filters of this machine stay as they are, and the kernel takes all that it made away with the first process in
# there, however that ends. Containers reach each other, and nothing beyond; they are talked to through the socket.
# shellcheck shell=bash
set -euo pipefail

readonly CANNOT_RUN=77 START_LIMIT_S=60

cannot_run() {
  printf '%s\n' "$*" >&2
  exit "$CANNOT_RUN"
}

((EUID == 0)) || cannot_run 'no Docker daemon answers, and only root can start one'
for tool in dockerd containerd runc iptables ip unshare setpriv mount; do
  command -v "$tool" >/dev/null || cannot_run "no Docker daemon answers, and to start one $tool is missing (Debian: docker.io, iptables)"
done

folder=$(mktemp -d "${TMPDIR:-/tmp}/verbena-docker.XXXXXXXX")
readonly folder
readonly cgroup=${folder##*/}
daemon=''
lifeline=''
made_etc_docker=''

remove_all() {
  trap '' INT TERM HUP
  [[ -z $lifeline ]] || kill "$lifeline" 2>/dev/null || true
  if [[ -n $daemon ]]; then
    # The first process in the namespaces: with it go all others, and then unshare.
    local first
    first=$(cat "/proc/$daemon/task/$daemon/children" 2>/dev/null) || true
    # shellcheck disable=SC2086
    kill -KILL ${first:-"$daemon"} 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
  fi
  # Deepest first. Where the kernel is still at it, once more.
  local tries
  for ((tries = 0; tries < 100; tries++)); do
    find /sys/fs/cgroup -depth -type d -path "*/$cgroup*" -exec rmdir {} + 2>/dev/null || true
    rm -rf "$folder" 2>/dev/null || true
    [[ -e $folder || -n $(find /sys/fs/cgroup -maxdepth 3 -type d -name "$cgroup" -print -quit 2>/dev/null) ]] || break
    sleep 0.05
  done
  [[ -z $made_etc_docker ]] || rmdir /etc/docker 2>/dev/null || true
}
trap remove_all EXIT
trap 'exit 0' INT TERM HUP

# Where the daemon keeps a key, whatever it is told: covered in its own view.
if [[ ! -d /etc/docker ]]; then
  mkdir /etc/docker
  made_etc_docker=yes
fi
echo '{}' >"$folder/daemon.json"

# shellcheck disable=SC2016
setpriv --pdeathsig KILL unshare --mount --net --pid --ipc --mount-proc --fork --kill-child bash -c '
  set -e
  mount -t tmpfs none /run
  mount -t tmpfs none /etc/docker
  ip link set lo up
  export HOME=$1 TMPDIR=$1
  exec dockerd --config-file "$1/daemon.json" --data-root "$1/data" --exec-root "$1/exec" --pidfile "$1/pid" \
    --host "unix://$1/docker.sock" --cgroup-parent "/$2"
' dockerd "$folder" "$cgroup" </dev/null >"$folder/log" 2>&1 &
daemon=$!

for ((waited = 0; ; waited++)); do
  ! grep -qs 'API listen on' "$folder/log" || break
  if ! kill -0 "$daemon" 2>/dev/null || ((waited >= START_LIMIT_S * 20)); then
    cannot_run "dockerd does not start: $(grep -vE 'level=(info|debug)' "$folder/log" | tail -n 1)"
  fi
  sleep 0.05
done
printf 'ready %s\n' "$folder/docker.sock"

# By a child, as a builtin would keep signals waiting.
exec 3<&0
cat <&3 >/dev/null &
lifeline=$!
wait "$lifeline" || true
