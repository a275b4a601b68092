// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.disni.elf.ElfSymbols;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Fuzzes the reader of shared libraries, which reads a library before it is loaded. */
public final class ElfSymbolsFuzz {
  private ElfSymbolsFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    ElfSymbols read;
    try {
      read = ElfSymbols.read("lib.so", ByteBuffer.wrap(data));
    } catch (IOException e) {
      Claim.that(e.getMessage() != null, "an error says what is wrong");
      return;
    }
    Claim.that(read.bits() == 32 || read.bits() == 64, "a word size");
  }
}
