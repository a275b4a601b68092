// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.RdmaOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A program that registers memory, as the transports do, and prints the kernel's report about the
 * pages.
 */
final class RegisteredPages {
  /** First line of a mapping in {@code /proc/self/smaps}, see {@code proc(5)}. */
  private static final Pattern MAPPING = Pattern.compile("([0-9a-f]+)-([0-9a-f]+) .*");

  private RegisteredPages() {}

  public static void main(String[] arguments) throws IOException {
    RecordingDomain domain = new RecordingDomain();
    RegisteredMemory memory = new RegisteredMemory(domain, RdmaOptions.defaults());
    ByteBuf buffer = memory.allocator().directBuffer(4096).writeZero(4096);
    // A registered buffer does not reveal its address itself.
    System.out.print(mapping(Unpooled.wrappedBuffer(buffer.nioBuffer()).memoryAddress()));
    buffer.release();
    memory.close();
  }

  /** Returns the lines about the mapping that contains an address. */
  private static String mapping(long address) throws IOException {
    StringBuilder lines = new StringBuilder();
    boolean isIn = false;
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
      Matcher mapping = MAPPING.matcher(line);
      if (mapping.matches()) {
        isIn =
            Long.compareUnsigned(address, Long.parseUnsignedLong(mapping.group(1), 16)) >= 0
                && Long.compareUnsigned(address, Long.parseUnsignedLong(mapping.group(2), 16)) < 0;
      }
      if (isIn) {
        lines.append(line).append('\n');
      }
    }
    return lines.toString();
  }
}
