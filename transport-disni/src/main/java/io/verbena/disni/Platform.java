// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.elf.ElfSymbols;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.Locale;

/**
 * A machine that native libraries are packed for, named as the C compiler names it: {@code
 * linux-x86_64}, {@code linux-aarch64}.
 */
record Platform(String os, String architecture) {
  /** The folders of the platforms in the jar and on the class path. */
  private static final String FOLDERS = "io/verbena/disni/native/";

  /** Returns the platform that this JVM runs on. */
  static Platform current() {
    return of(System.getProperty("os.name"), System.getProperty("os.arch"));
  }

  /** From the JVM's names. */
  static Platform of(String os, String architecture) {
    return new Platform(
        os.toLowerCase(Locale.ROOT).replaceAll("\\s.*", ""),
        switch (architecture) {
          case "amd64", "x86_64" -> "x86_64";
          case "arm64", "aarch64" -> "aarch64";
          case "ppc64le" -> "powerpc64le";
          default -> architecture;
        });
  }

  /** Returns where on the class path its libraries are. */
  String resource(String file) {
    return FOLDERS + this + "/" + file;
  }

  /**
   * Fails unless the library is one for this machine: the JVM itself would say no more than "wrong
   * ELF class".
   */
  void check(String library, ElfSymbols elf) {
    String here = architecture + ", 64 bits";
    if (!elf.machine().equals(architecture) || elf.bits() != Long.SIZE) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          "%s: built for %s, %d bits (expected: %s); build it on this machine, or remove it"
              .formatted(library, elf.machine(), elf.bits(), here));
    }
  }

  @Override
  public String toString() {
    return os + "-" + architecture;
  }
}
