// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.crypto.RecordCipher;
import io.verbena.emulated.crypto.SessionKeys;
import io.verbena.emulated.crypto.SharedSecret;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Fuzzes the records of a locked stream: the input is XORed into their bytes on the wire. */
public final class RecordFuzz {
  private static final SharedSecret KEY = SharedSecret.of(new byte[SharedSecret.LEAST]);
  private static final byte[] REQUEST = {1};
  private static final byte[] REPLY = {2};
  private static final int[] LENGTHS = {1, 17, 100};
  private static final CipherWorkspace WORK = CipherWorkspace.ofRecords();

  private RecordFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    ByteBuffer stream = seal(lock(true));
    int end = stream.limit();
    int changed = end;
    for (int i = Math.min(data.length, end) - 1; i >= 0; i--) {
      if (data[i] != 0) {
        stream.put(i, (byte) (stream.get(i) ^ data[i]));
        changed = i;
      }
    }
    RecordCipher peer = lock(false);
    int at = 0;
    for (int sealed : LENGTHS) {
      int length =
          end - at < RecordCipher.HEADER ? RecordCipher.NONE : RecordCipher.length(stream, at);
      if (length == RecordCipher.NONE || length > end - at - RecordCipher.OVERHEAD) {
        Claim.that(changed < at + RecordCipher.HEADER, "a length that nobody changed");
        return;
      }
      boolean opened = peer.open(WORK, stream, at, length);
      at += RecordCipher.OVERHEAD + length;
      Claim.that(opened == changed >= at, "opens unless a byte up to its end was changed");
      if (opened) {
        Claim.that(length == sealed && WORK.out()[length - 1] == sealed, "what was sealed");
      }
    }
  }

  private static RecordCipher lock(boolean active) {
    return SessionKeys.of(KEY, active, REQUEST, REPLY).records();
  }

  /** Returns a stream of records, each of which holds its length in each byte. */
  private static ByteBuffer seal(RecordCipher lock) {
    ByteBuffer stream = ByteBuffer.allocate(512);
    for (int length : LENGTHS) {
      Arrays.fill(WORK.in(), 0, length, (byte) length);
      lock.seal(WORK, length, stream);
    }
    return stream.flip();
  }
}
