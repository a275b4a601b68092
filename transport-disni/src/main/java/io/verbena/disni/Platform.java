// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.elf.ElfSymbols;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.Locale;

/**
 * A platform of native libraries, with the C compiler's name: {@code linux-x86_64}, {@code
 * linux-aarch64}.
 */
record Platform(String os, String architecture) {
  /** The folder on the class path that has a folder for each platform. */
  private static final String FOLDERS = "io/verbena/disni/native/";

  /** Returns the platform that this JVM runs on. */
  static Platform current() {
    return of(System.getProperty("os.name"), System.getProperty("os.arch"));
  }

  /** Returns the platform of the JVM's properties {@code os.name} and {@code os.arch}. */
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

  /** Returns the resource name of a library of this platform. */
  String resource(String file) {
    return FOLDERS + this + "/" + file;
  }

  /**
   * Checks that a library is built for this platform. The JVM itself would report only "wrong ELF
   * class".
   *
   * @throws VerbsException NOT_SUPPORTED if not
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
