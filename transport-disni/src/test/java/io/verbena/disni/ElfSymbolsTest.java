// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.disni.elf.ElfSymbols;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ElfSymbolsTest {
  private static final byte CLASS_32 = 1;
  private static final byte CLASS_64 = 2;
  private static final byte LITTLE_ENDIAN = 1;
  private static final byte BIG_ENDIAN = 2;

  private static final int SECTIONS_AT = 64;
  private static final int SYMBOLS_AT = 512;
  private static final int NAMES_AT = 1024;

  @TempDir private Path folder;

  @Test
  void listsWhatALibraryDefinesAndNotWhatItUses() throws Exception {
    Path library = folder.resolve("libsmall.so");
    Natives.compile(
        """
        #include <stdlib.h>
        int shown;
        static int hidden(void) { return abs(shown); }
        int called(void) { return hidden(); }
        """,
        library);

    ElfSymbols elf = ElfSymbols.read(library);

    assertThat(elf.names()).contains("shown", "called").doesNotContain("hidden", "abs");
    assertThat(elf.bits()).isEqualTo(64);
  }

  @Test
  void namesTheMachineOfAHeader() throws IOException {
    assertThat(elf(CLASS_64, LITTLE_ENDIAN, 183))
        .isEqualTo(new ElfSymbols("aarch64", 64, Set.of()));
    assertThat(elf(CLASS_64, LITTLE_ENDIAN, 62)).isEqualTo(new ElfSymbols("x86_64", 64, Set.of()));
    assertThat(elf(CLASS_64, BIG_ENDIAN, 22)).isEqualTo(new ElfSymbols("s390x", 64, Set.of()));
    assertThat(elf(CLASS_32, LITTLE_ENDIAN, 3)).isEqualTo(new ElfSymbols("i686", 32, Set.of()));
    assertThat(elf(CLASS_64, LITTLE_ENDIAN, 999).machine()).isEqualTo("ELF machine 999");
  }

  @Test
  void aPlatformRefusesALibraryOfAnotherOne() {
    Platform here = Platform.of("Linux", "amd64");

    assertThatThrownBy(() -> here.check("lib.so", elf(CLASS_64, LITTLE_ENDIAN, 183)))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(
            "lib.so: built for aarch64, 64 bits (expected: x86_64, 64 bits); build it on this"
                + " machine, or remove it");
    assertThatThrownBy(() -> here.check("lib.so", elf(CLASS_32, LITTLE_ENDIAN, 3)))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("built for i686, 32 bits");
  }

  @Test
  void saysThatAFileIsNoLibrary() throws IOException {
    Path text = Files.writeString(folder.resolve("text.so"), "/* GNU ld script */ INPUT(x.so)");
    Path cut = Files.write(folder.resolve("cut.so"), new byte[] {0x7F, 'E', 'L', 'F', 2, 1});

    assertThatThrownBy(() -> ElfSymbols.read(text))
        .isInstanceOf(IOException.class)
        .hasMessage(text + ": not an ELF file");
    assertThatThrownBy(() -> ElfSymbols.read(cut))
        .isInstanceOf(IOException.class)
        .hasMessage(cut + ": not a whole ELF file, 6 bytes");
  }

  @Test
  void readsOneTableOfSymbolsHoweverOftenItIsListed() throws IOException {
    ByteBuffer library = withSections(2);
    library.put(NAMES_AT + 1, (byte) 'a').put(NAMES_AT + 3, (byte) 'b');
    section(library, 0, 11, SYMBOLS_AT, 24).putInt(SYMBOLS_AT, 1);
    section(library, 1, 11, SYMBOLS_AT + 24, 24).putInt(SYMBOLS_AT + 24, 3);

    assertThat(ElfSymbols.read("lib.so", library).names()).containsExactly("a");
  }

  @Test
  void refusesANameThatDoesNotEnd() {
    ByteBuffer library = withSections(1);
    section(library, 0, 11, SYMBOLS_AT, 24);
    for (int i = 0; i <= 1024; i++) {
      library.put(NAMES_AT + i, (byte) 'x');
    }

    assertThatThrownBy(() -> ElfSymbols.read("lib.so", library))
        .isInstanceOf(IOException.class)
        .hasMessage("lib.so: a symbol's name: longer than 1024 bytes");
  }

  @Test
  void refusesSectionHeadersThatLieInOnePlace() {
    ByteBuffer library = withSections(1).putShort(58, (short) 0).putShort(60, (short) -1);

    assertThatThrownBy(() -> ElfSymbols.read("lib.so", library))
        .isInstanceOf(IOException.class)
        .hasMessage("lib.so: section headers of 0 bytes (expected: 64)");
  }

  /** Returns a library with sections of symbols; the section after them has the names. */
  private static ByteBuffer withSections(int sections) {
    ByteBuffer library = ByteBuffer.allocate(NAMES_AT + 2048);
    library.putInt(0x7F454C46).put(CLASS_64).put(LITTLE_ENDIAN).order(ByteOrder.LITTLE_ENDIAN);
    library.putShort(18, (short) 62).putLong(40, SECTIONS_AT).putShort(58, (short) 64);
    library.putShort(60, (short) (sections + 1));
    section(library, sections, 3, NAMES_AT, 2048);
    for (int i = 0; i < sections; i++) {
      library.putInt(SECTIONS_AT + 64 * i + 40, sections);
      library.putShort(SYMBOLS_AT + 24 * i + 6, (short) 1);
    }
    return library;
  }

  private static ByteBuffer section(ByteBuffer library, int index, int type, long at, long size) {
    int header = SECTIONS_AT + 64 * index;
    return library.putInt(header + 4, type).putLong(header + 24, at).putLong(header + 32, size);
  }

  private ElfSymbols elf(byte wordSize, byte order, int machine) throws IOException {
    return ElfSymbols.read(header(folder, wordSize, order, machine));
  }

  /** Writes a library that ends after its header. */
  static Path header(Path folder, byte wordSize, byte order, int machine) throws IOException {
    ByteBuffer header = ByteBuffer.allocate(64);
    header.putInt(0x7F454C46).put(wordSize).put(order);
    header.order(order == BIG_ENDIAN ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    header.putShort(18, (short) machine);
    return Files.write(Files.createTempFile(folder, "header", ".so"), header.array());
  }
}
