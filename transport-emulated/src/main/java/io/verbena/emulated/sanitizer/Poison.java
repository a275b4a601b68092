package io.verbena.emulated.sanitizer;

import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What the buffer of a posted receive shows until its completion was polled: eight bytes, chosen
 * anew in each JVM, over and over. They are found again wherever at least 15 of them in a row were
 * copied to.
 */
final class Poison {
  private static final int PERIOD = Long.BYTES;
  private static final int CHUNK = 4096;
  private static final byte[] TEMPLATE = new byte[CHUNK + PERIOD];
  private static final long[] ROTATIONS = new long[PERIOD];

  static {
    byte[] bytes = new byte[PERIOD];
    for (int i = 0; i < PERIOD; i++) {
      // No zero, and none twice in a row: nothing that memory holds by itself.
      bytes[i] = (byte) (0xa0 + 8 * i + ThreadLocalRandom.current().nextInt(8));
    }
    for (int i = 0; i < TEMPLATE.length; i++) {
      TEMPLATE[i] = bytes[i % PERIOD];
    }
    for (int i = 0; i < PERIOD; i++) {
      ROTATIONS[i] = ByteBuffer.wrap(TEMPLATE).getLong(i);
    }
  }

  private static volatile boolean used;

  private Poison() {}

  /** Fills {@code length} bytes from {@code offset} on. */
  static void fill(ByteBuffer memory, int offset, int length) {
    used = true;
    for (int done = 0; done < length; done += CHUNK) {
      memory.put(offset + done, TEMPLATE, 0, Math.min(CHUNK, length - done));
    }
  }

  /** Whether these bytes are still as {@link #fill} left them. */
  static boolean fills(ByteBuffer memory, int offset, int length) {
    for (int done = 0; done < length; done += CHUNK) {
      int part = Math.min(CHUNK, length - done);
      if (memory.slice(offset + done, part).mismatch(ByteBuffer.wrap(TEMPLATE, 0, part)) >= 0) {
        return false;
      }
    }
    return true;
  }

  /** Whether a copy of poison is among these bytes. */
  static boolean isIn(ByteBuffer memory, int offset, int length) {
    if (!used) {
      return false;
    }
    ByteBuffer bytes = memory.slice(offset, length);
    for (int i = 0; i + Long.BYTES <= length; i += Long.BYTES) {
      long word = bytes.getLong(i);
      for (long rotation : ROTATIONS) {
        if (word == rotation) {
          return true;
        }
      }
    }
    return false;
  }
}
