// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.reactor.wire.FrameLayout;
import io.verbena.reactor.wire.FrameReader;
import io.verbena.reactor.wire.ProtocolException;
import io.verbena.reactor.wire.RecordLayout;

/**
 * Fuzzes the reader of the reactive layer's frames and of their records. The first byte of the
 * input chooses the limit.
 */
public final class FrameReaderFuzz {
  private static final int[] LONGEST = {0, 1, 64, 8192, Integer.MAX_VALUE};

  private FrameReaderFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    if (data.length == 0) {
      return;
    }
    int longest = LONGEST[(data[0] & 0xff) % LONGEST.length];
    // Nothing lies behind the frame, so that a read beyond it throws.
    ByteBuf frame = Unpooled.wrappedBuffer(data, 1, data.length - 1);
    Judge judge = new Judge(frame.readableBytes(), longest);
    try {
      FrameReader.read(frame, frame.readableBytes(), longest, judge);
    } catch (ProtocolException e) {
      Claim.that(e.getMessage() != null, "an error says what is wrong");
      return;
    }
    Claim.that(judge.granted, "a frame grants something");
  }

  private static final class Judge implements FrameReader.Handler {
    private final int length;
    private final int longest;
    private int read = FrameLayout.HEADER_LENGTH;
    private boolean granted;

    Judge(int length, int longest) {
      this.length = length;
      this.longest = longest;
    }

    @Override
    public void granted(int frames, int messages, int immediates) {
      Claim.that(!granted, "one header in a frame");
      granted = true;
    }

    @Override
    public void message(ByteBuf frame, int start, int bytes) {
      Claim.that(bytes >= 0 && bytes <= longest, "a message within the limit");
      Claim.that(start >= read + 8, "messages that do not overlap");
      Claim.that(start + bytes <= length, "a message within the frame");
      read = start + bytes;
    }

    @Override
    public void rendezvous(int bytes, int id, int key, long address) {
      Claim.that(bytes >= 1 && bytes <= longest, "a rendezvous within the limit");
      count(RecordLayout.RENDEZVOUS_LENGTH);
    }

    @Override
    public void done(int id) {
      count(RecordLayout.DONE_LENGTH);
    }

    @Override
    public void closing(boolean stop) {
      count(RecordLayout.CLOSE_LENGTH);
    }

    @Override
    public void immediate(int value, int bytes) {
      count(RecordLayout.IMMEDIATE_LENGTH);
    }

    @Override
    public void returned(int credits) {
      count(RecordLayout.RETURN_LENGTH);
    }

    private void count(int bytes) {
      read += bytes;
      Claim.that(read <= length, "records within the frame");
    }
  }
}
