// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni.elf;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/**
 * The target machine of a shared library and the symbols that it exports, read from its ELF header
 * and its section {@code .dynsym} ({@code elf(5)}) without loading it.
 *
 * @param machine the machine's name, as the C compiler names it
 * @param bits 32 or 64
 * @param names the exported functions and variables
 */
public record ElfSymbols(String machine, int bits, Set<String> names) {
  private static final int MAGIC = 0x7F454C46;
  private static final int IDENT_CLASS = 4;
  private static final int IDENT_DATA = 5;
  private static final int CLASS_64 = 2;
  private static final int DATA_BIG_ENDIAN = 2;
  private static final int MACHINE = 18;
  private static final int SECTION_DYNAMIC_SYMBOLS = 11;
  private static final int UNDEFINED = 0;

  /**
   * Reads a file.
   *
   * @throws IOException if the file cannot be read or is not an ELF file; the message names the
   *     file
   */
  public static ElfSymbols read(Path file) throws IOException {
    return read(file.toString(), ByteBuffer.wrap(Files.readAllBytes(file)));
  }

  /**
   * Reads the content of a file. Sets the buffer's byte order.
   *
   * @param file the file's name, for messages
   * @throws IOException if the content is not an ELF file
   */
  public static ElfSymbols read(String file, ByteBuffer bytes) throws IOException {
    try {
      return parse(bytes);
    } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
      throw new IOException(file + ": not a whole ELF file, " + bytes.capacity() + " bytes", e);
    } catch (IOException e) {
      throw new IOException(file + ": " + e.getMessage(), e);
    }
  }

  private static ElfSymbols parse(ByteBuffer bytes) throws IOException {
    bytes.order(ByteOrder.BIG_ENDIAN);
    if (bytes.getInt(0) != MAGIC) {
      throw new IOException("not an ELF file");
    }
    boolean wide = bytes.get(IDENT_CLASS) == CLASS_64;
    bytes.order(
        bytes.get(IDENT_DATA) == DATA_BIG_ENDIAN ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    String machine = machine(bytes.getShort(MACHINE), bytes.order());
    // Skips the sections of a 32-bit library, which is for another machine anyway.
    Set<String> names = wide ? names(bytes) : Set.of();
    return new ElfSymbols(machine, wide ? 64 : 32, names);
  }

  private static String machine(short number, ByteOrder order) {
    boolean little = order == ByteOrder.LITTLE_ENDIAN;
    return switch (number) {
      case 3 -> "i686";
      case 21 -> little ? "powerpc64le" : "powerpc64";
      case 22 -> "s390x";
      case 40 -> "arm";
      case 62 -> "x86_64";
      case 183 -> little ? "aarch64" : "aarch64_be";
      case 243 -> "riscv64";
      case 258 -> "loongarch64";
      default -> "ELF machine " + number;
    };
  }

  private static Set<String> names(ByteBuffer bytes) throws IOException {
    Header header = new Header(bytes);
    header.check();
    Set<String> names = new HashSet<>();
    for (int i = 0; i < header.sections(); i++) {
      Section section = header.section(i);
      if (section.type() == SECTION_DYNAMIC_SYMBOLS) {
        section.addNames(header.section(section.link()), names);
        // A library has one such section; reading more would let a malformed file take much time.
        return names;
      }
    }
    return names;
  }

  /** {@code Elf64_Ehdr}. */
  private record Header(ByteBuffer bytes) {
    private static final int SECTION_OFFSET = 40;
    private static final int SECTION_SIZE = 58;
    private static final int SECTION_COUNT = 60;

    /** Refuses section headers of another size than {@code Elf64_Shdr}. */
    void check() throws IOException {
      int size = Short.toUnsignedInt(bytes.getShort(SECTION_SIZE));
      if (size != Section.LENGTH && sections() > 0) {
        throw new IOException("section headers of " + size + " bytes (expected: 64)");
      }
    }

    int sections() {
      return Short.toUnsignedInt(bytes.getShort(SECTION_COUNT));
    }

    Section section(int index) {
      return new Section(bytes, position(bytes.getLong(SECTION_OFFSET)) + index * Section.LENGTH);
    }
  }

  /** {@code Elf64_Shdr}, and {@code Elf64_Sym} in it. */
  private record Section(ByteBuffer bytes, int at) {
    private static final int LENGTH = 64;
    private static final int TYPE = 4;
    private static final int OFFSET = 24;
    private static final int SIZE = 32;
    private static final int LINK = 40;
    private static final int SYMBOL_NAME = 0;
    private static final int SYMBOL_SECTION = 6;
    private static final int SYMBOL_SIZE = 24;
    private static final int MAX_NAME = 1024;

    int type() {
      return bytes.getInt(at + TYPE);
    }

    int link() {
      return bytes.getInt(at + LINK);
    }

    int offset() {
      return position(bytes.getLong(at + OFFSET));
    }

    void addNames(Section strings, Set<String> names) throws IOException {
      int end = offset() + position(bytes.getLong(at + SIZE));
      for (int symbol = offset(); symbol + SYMBOL_SIZE <= end; symbol += SYMBOL_SIZE) {
        if (bytes.getShort(symbol + SYMBOL_SECTION) != UNDEFINED) {
          names.add(strings.text(bytes.getInt(symbol + SYMBOL_NAME)));
        }
      }
    }

    private String text(int index) throws IOException {
      int start = offset() + index;
      int end = start;
      while (bytes.get(end) != 0) {
        if (end - start == MAX_NAME) {
          throw new IOException("a symbol's name: longer than " + MAX_NAME + " bytes");
        }
        end++;
      }
      byte[] text = new byte[end - start];
      bytes.get(start, text);
      return new String(text, StandardCharsets.UTF_8);
    }
  }

  private static int position(long offset) {
    if (offset < 0 || offset > Integer.MAX_VALUE) {
      throw new IndexOutOfBoundsException(offset);
    }
    return (int) offset;
  }
}
