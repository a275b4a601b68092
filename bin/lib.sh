# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts in this folder; sourced, never run.
# shellcheck shell=bash

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# show_help WORD: what the script says of itself, and the end, where the word asks for it.
show_help() {
  if [[ $1 == --help ]]; then
    sed -n '3,/^source/{/^#/s/^# \{0,1\}//p}' "$(readlink -f "$0")"
    exit 0
  fi
}

# The JDK that Maven would take: JAVA_HOME, or the one whose javac is on the path.
default_jdk() {
  if [[ -n ${JAVA_HOME:-} ]]; then
    [[ -x $JAVA_HOME/bin/javac ]] || die "JAVA_HOME: $JAVA_HOME (expected: a JDK, with bin/javac)"
    printf '%s\n' "$JAVA_HOME"
    return
  fi
  local javac
  javac=$(command -v javac) || die "javac: not found (expected: a JDK, 17 or later, on the path or in JAVA_HOME)"
  javac=$(readlink -f "$javac")
  printf '%s\n' "${javac%/bin/javac}"
}

# jdk_major HOME: 17, 25, ...
jdk_major() {
  local version
  # Behind what a JVM may say of its environment, such as "Picked up JAVA_TOOL_OPTIONS".
  version=$("$1/bin/javac" -version 2>&1 | sed -n 's/^javac //p')
  printf '%s\n' "${version%%[.-]*}"
}

# find_jdk MAJOR: the home of such a JDK, from $JAVA<MAJOR>_HOME or the usual folder; fails if there is none.
find_jdk() {
  local variable="JAVA$1_HOME" home
  for home in "${!variable:-}" /usr/lib/jvm/*"$1"*; do
    if [[ -n $home && -x $home/bin/javac && $(jdk_major "$home") == "$1" ]]; then
      printf '%s\n' "$home"
      return
    fi
  done
  return 1
}

# clock SECONDS: as minutes and seconds.
clock() {
  printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# Reads Maven's log; writes a line per module that is begun.
show_build() {
  local label=$1 from=$SECONDS line module
  while IFS= read -r line; do
    case $line in
      *'< io.verbena:verbena-parent >'*) ;;
      *'< io.verbena:verbena-'*)
        module=${line#*io.verbena:verbena-}
        printf '%s %s %s\n' "$label" "$(clock $((SECONDS - from)))" "${module%% *}"
        ;;
    esac
  done
}

# failures LABEL LOG: the part of Maven's log that tells why.
failures() {
  printf '\n%s FAILED, from %s:\n' "$1" "$2"
  sed -n '/^\[ERROR\]\|^Exception\|^Error/,$p' "$2" | sed '/Reactor Summary/,/Finished at/d' |
    grep -vE '^\[(ERROR|INFO)\] *($|-|To see the full|Re-run Maven|For more information|\[Help|After correcting|mvn <args>)' |
    awk 'NR <= 300 { print } END { if (NR > 300) printf "... and %d lines more\n", NR - 300 }'
}

# failed_in LOGS...: the errors and warnings of these logs, each once and without what stands beside them.
failed_in() {
  local log
  for log in "$@"; do
    awk -v name="$(basename "$log" .log)" '
      /^\[ERROR\]|^(\[WARNING\]|WARNING:|OpenJDK .* warning:)/ && !/JAR will be empty/ && !/Tests run:.*Skipped: [0-9]+(, Time elapsed: .* s -- in .*)?$/ {
        if ($0 !~ /^\[ERROR\] *($|-|Failures: *$|Errors: *$|To see the full|Re-run Maven|For more information|\[Help|After correcting)/ &&
            !($0 in seen) && ++told <= 40) {
          print "[" name "] " substr($0, 1, 400)
          more = 4
        }
        seen[$0] = 1
        next
      }
      /^\[|^\tat |^$/ { if (/^\[/) more = 0; next }
      more-- > 0 { print "[" name "]   " substr($0, 1, 400) }' "$log"
  done
}

# maven LABEL JDK LOG SHOW ARGS...: runs Maven from the root, with its log through the command SHOW; on failure prints the part
# of the log that tells why.
maven() {
  local label=$1 jdk=$2 log=$3 show=$4 status
  shift 4
  command -v mvn >/dev/null || die "mvn: not found (expected: Apache Maven 3.8 or later on the path)"
  mkdir -p "${log%/*}"
  set +e
  # shellcheck disable=SC2086
  (cd "$root" && JAVA_HOME=$jdk mvn -B -ntp "$@" </dev/null 2>&1) | tee "$log" | $show "$label"
  status=${PIPESTATUS[0]}
  set -e
  if ((status != 0)); then
    failures "$label" "$log" >&2
    return "$status"
  fi
}

# without_warnings LABEL LOG: fails if Maven, a plugin or the JVM in a test warned: a warning is an error. Failed tests are told of
# elsewhere, and jars of tests are empty where tests are not compiled.
without_warnings() {
  if ! awk '
    / Running / { class = $NF }
    /^(\[WARNING\]|WARNING:|OpenJDK .* warning:)/ && !/Tests run:|JAR will be empty/ {
      warned = 1
      if (class != "") print "after the start of " class ":"
      left = 20
    }
    left > 0 { print; left-- }
    END { exit warned }' "$2" >&2; then
    printf '%s warnings (expected: none), see %s\n' "$1" "$2" >&2
    return 1
  fi
}

# The artifacts that are published: those of the BOM.
published() {
  sed -n '/<dependencyManagement>/,/<\/dependencyManagement>/s|.*<artifactId>\(.*\)</artifactId>.*|\1|p' "$root/bom/pom.xml"
}

# The version of all modules.
version() {
  sed -n '/<version>/{s|.*<version>\(.*\)</version>.*|\1|p;q}' "$root/bom/pom.xml"
}

# What the main code is built from: names, sizes and times of the files, and what of this machine decides whether native libraries
# and verbs:// are built.
fingerprint() {
  {
    (cd "$root" && find . \( -name target -o -name .git \) -prune -o -type f \( -name pom.xml -o -path './.mvn/*' -o -path '*/src/main/*' \) \
      -printf '%p %s %T@\n' | LC_ALL=C sort)
    command -v "${CC:-cc}" || true
    ls -d /usr/include/infiniband/verbs.h /usr/include/rdma/rdma_cma.h /usr/lib/jvm/*/bin 2>/dev/null || true
  } | cksum
}

# Whether a Docker daemon could be listening: one that DOCKER_HOST names, or at the usual place.
has_docker() {
  [[ -n ${DOCKER_HOST:-} || -S /var/run/docker.sock ]]
}

# As "$@", and no service starts because its package is installed: who only tests wants none.
without_services() (
  local policy=/usr/sbin/policy-rc.d
  if [[ ! -e $policy ]]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
  fi
  "$@"
)

# Installs what the native libraries are built with, tshark, and what starts containers, if it is missing and this is root
# on Debian; else says what is missing: Maven then builds everything but those, and their tests are skipped.
install_build_packages() {
  local missing=() log="$root/target/apt.log"
  command -v "${CC:-cc}" >/dev/null || missing+=(gcc libc6-dev)
  [[ -f /usr/include/infiniband/verbs.h ]] || missing+=(libibverbs-dev)
  [[ -f /usr/include/rdma/rdma_cma.h ]] || missing+=(librdmacm-dev)
  command -v tshark >/dev/null || missing+=(tshark)
  if ! has_docker; then
    command -v dockerd >/dev/null || missing+=(docker.io)
    command -v iptables >/dev/null || missing+=(iptables)
    PATH=$PATH:/usr/sbin:/sbin command -v tc >/dev/null || missing+=(iproute2)
  fi
  ((${#missing[@]} > 0)) || return 0
  if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
    printf '%s: NOT ALL IS BUILT OR TESTED: missing %s, and only root on Debian can install them\n' "${0##*/}" "${missing[*]}" >&2
    return 0
  fi
  printf '%s: installing %s\n' "${0##*/}" "${missing[*]}" >&2
  mkdir -p "${log%/*}"
  export DEBIAN_FRONTEND=noninteractive
  local install=(without_services apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}")
  # Again after an update, as a fresh image has old lists or none.
  "${install[@]}" >"$log" 2>&1 </dev/null ||
    { apt-get -q update && "${install[@]}"; } >>"$log" 2>&1 </dev/null ||
    printf '%s: NOT ALL IS BUILT OR TESTED: cannot install %s, see %s\n' "${0##*/}" "${missing[*]}" "$log" >&2
}

# class_path MODULE: the jar of the module in this folder and all that it needs at run time, as the last build wrote it down.
class_path() {
  printf '%s:%s\n' "$root/$1/target/verbena-${1##*/}-$(version).jar" "$(cat "$root/$1/target/runtime-class-path")"
}

# Whether the module's last build is of these sources and its class path still exists.
is_built() {
  local stamp="$root/$1/target/built-from" entry
  [[ -f $stamp && $(cat "$stamp") == "$(fingerprint)" && -f $root/$1/target/runtime-class-path ]] || return 1
  local IFS=:
  for entry in $(class_path "$1"); do
    [[ -e $entry ]] || return 1
  done
}

# mark_built MODULE FINGERPRINT: the fingerprint is the one taken before the build began.
mark_built() {
  printf '%s\n' "$2" >"$root/$1/target/built-from"
}

# build_stale MODULE: builds it and what it needs, unless the last build is of these sources. Who comes meanwhile waits for it.
build_stale() {
  local before building
  is_built "$1" && return
  mkdir -p "$root/target"
  exec {building}>"$root/target/building"
  flock "$building"
  if is_built "$1"; then
    exec {building}>&-
    return
  fi
  before=$(fingerprint)
  maven '[build]' "$(default_jdk)" "$root/target/${1##*/}.log" show_build package -T 2 -pl "$1" -am -Dmaven.test.skip=true >&2
  mark_built "$1" "$before"
  exec {building}>&-
}

# launch MODULE MAIN JVM-ARGS... -- ARGS...: builds what is stale, then becomes the program.
launch() {
  local module=$1 main=$2
  shift 2
  local jvm=()
  while [[ $1 != -- ]]; do
    jvm+=("$1")
    shift
  done
  shift
  build_stale "$module"
  exec "$(default_jdk)/bin/java" "${jvm[@]}" -cp "$(class_path "$module")" "$main" "$@"
}
