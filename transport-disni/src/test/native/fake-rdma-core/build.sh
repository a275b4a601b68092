#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds libfake_rdma_core.so, with which tests run by LD_PRELOAD.
#
#   build.sh JDK OUT [tsan]
#
# tsan   with the thread sanitizer, and with what it must know of Java
#
# Without a compiler or headers it says so in one line, and builds nothing. CC is honoured.
set -eu

jdk=$1 kind=${3:-}
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")"
cc=${CC:-cc}

command -v "$cc" >/dev/null && printf '#include <jni.h>\n#include <rdma/rdma_cma.h>\n' |
  "$cc" -E -x c "-I$jdk/include" "-I$jdk/include/linux" - -o /dev/null 2>/dev/null || {
  echo "No fake rdma-core built: no C compiler ($cc), or no headers of rdma-core or of the JDK."
  exit 0
}
case $kind in
  tsan)
    echo 'int main(void) { return 0; }' | "$cc" -fsanitize=thread -x c - -o /dev/null 2>/dev/null || {
      echo "No fake rdma-core built for the thread sanitizer, which $cc does not have."
      exit 0
    }
    set -- -fsanitize=thread -finstrument-functions -fno-omit-frame-pointer ./*.c ../thread-sanitizer/*.c
    ;;
  '') set -- -Wl,-z,defs ./*.c ;;
  *) echo "build.sh: $kind (expected: tsan, or nothing)" >&2 && exit 2 ;;
esac
"$cc" -std=gnu11 -Wall -Wextra -Werror -fvisibility=hidden -fPIC -pthread -O2 -g \
  "-I$jdk/include" "-I$jdk/include/linux" -shared -Wl,-z,now \
  -o "$out/libfake_rdma_core.so.new" "$@"
mv "$out/libfake_rdma_core.so.new" "$out/libfake_rdma_core.so"
