#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the classes for JDK 22 and later into OUT/META-INF/versions/22, and links TARGET/jdk22 to the JDK, for the tests.
#
#   build.sh JDK CLASSPATH OUT TARGET
#
# Uses the first JDK of version 22 or later among JAVA25_HOME, JDK (that of Maven) and those in /usr/lib/jvm. Without one, prints a
# warning, compiles nothing, and links TARGET/jdk22 to JDK.
set -eu

jdk=$1
classpath=$2
out=$3/META-INF/versions/22
target=$4
cd "$(dirname "$0")"

major() {
  version=$("$1/bin/javac" -version 2>&1) || return 1
  version=${version#javac }
  printf '%s\n' "${version%%[!0-9]*}"
}

rm -rf "$out"
for home in "${JAVA25_HOME:-$jdk}" "$jdk" /usr/lib/jvm/*; do
  if [ -x "$home/bin/javac" ] && [ "$(major "$home")" -ge 22 ]; then
    mkdir -p "$out"
    "$home/bin/javac" --release 22 -proc:none -parameters -encoding UTF-8 -Xlint:all -Werror -g \
      -cp "$classpath" -d "$out" io/verbena/foreign/*.java
    ln -sfn "$home" "$target/jdk22"
    exit 0
  fi
done
echo "*** SKIPPED, NOT BUILT HERE: verbs://. No JDK 22 or later in JAVA25_HOME or /usr/lib/jvm; its jar will refuse to open a device."
ln -sfn "$jdk" "$target/jdk22"
