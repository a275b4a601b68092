#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds libdisni.so and libverbena_disni.so for the machine that the C compiler builds for.
#
#   build.sh JDK HEADERS OUT [asan|tsan]
#
# JDK      whose jni.h is used
# HEADERS  where javac put io_verbena_disni_Extension.h
# OUT      gets io/verbena/disni/native/<os>-<arch>/, as in the jar
# asan     with the address and undefined behaviour sanitizers; the program is then run with
#          LD_PRELOAD=$(cc -print-file-name=libasan.so)
# tsan     with the thread sanitizer, and LD_PRELOAD=$(cc -print-file-name=libtsan.so); a preloaded
#          library can trace each call (-finstrument-functions)
#
# Without a compiler or headers it says so in one line, and builds nothing. CC is honoured.
set -eu

jdk=$1 kind=${4:-}
mkdir -p "$3"
headers=$(cd "$2" && pwd)
out=$(cd "$3" && pwd)
cd "$(dirname "$0")"
cc=${CC:-cc}

skip() {
  echo "No native libraries for DiSNI built: $1. Everything else is."
  exit 0
}

command -v "$cc" >/dev/null || skip "no C compiler ($cc); on Debian: gcc"
[ -f "$jdk/include/jni.h" ] || skip "no $jdk/include/jni.h; on Debian: openjdk-17-jdk-headless"
for header in infiniband/verbs.h rdma/rdma_cma.h; do
  echo "#include <$header>" | "$cc" -E -x c - -o /dev/null 2>/dev/null ||
    skip "no <$header>; on Debian: libibverbs-dev and librdmacm-dev"
done

machine=$("$cc" -dumpmachine)
folder=$out/io/verbena/disni/native/linux-${machine%%-*}
# POSIX 2008 and the extensions that rdma-core's own headers use.
flags="-std=gnu11 -Wall -Wextra -Werror -fvisibility=hidden -fPIC -pthread -O2 -g"
link="-shared -Wl,-z,now -Wl,-z,relro -Wl,--build-id=sha1"
case $kind in
  asan) sanitize="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" ;;
  tsan) sanitize="-fsanitize=thread -finstrument-functions -fno-omit-frame-pointer" ;;
  '') sanitize='' link="$link -Wl,-z,defs" ;;
  *) echo "build.sh: $kind (expected: asan, tsan or nothing)" >&2 && exit 2 ;;
esac
# shellcheck disable=SC2086
[ -z "$kind" ] || echo 'int main(void) { return 0; }' | "$cc" $sanitize -x c - -o /dev/null 2>/dev/null ||
  skip "$cc has no such sanitizer as $kind"

mkdir -p "$folder"
# Writes a new file and renames it, because a running program may have mapped the old one. -ffile-prefix-map keeps the paths of
# this machine out of the debug information, so that the same sources build the same file.
# shellcheck disable=SC2086
build() {
  name=$1
  shift
  "$cc" $flags "-ffile-prefix-map=$PWD=." "-ffile-prefix-map=$headers=headers" $sanitize "-I$jdk/include" "-I$jdk/include/linux" \
    "-I$headers" $link -o "$folder/$name.new" "$@" common/*.c -lrdmacm -libverbs
  mv "$folder/$name.new" "$folder/$name"
}

build libdisni.so disni/*.c
build libverbena_disni.so extension/*.c
