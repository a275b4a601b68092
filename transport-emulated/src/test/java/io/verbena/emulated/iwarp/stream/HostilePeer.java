// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.iwarp.frame.Terminate;
import io.verbena.emulated.iwarp.frame.TerminateCause;
import io.verbena.emulated.iwarp.stream.StreamEngine.State;
import io.verbena.emulated.iwarp.stream.StreamTerms.Role;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.SendWorkRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** One end of a stream with extensions, and a peer with handwritten bytes. */
final class HostilePeer {
  static final int IMMEDIATE = 8;
  static final int REQUEST = 10;
  static final int RESPONSE = 11;
  static final int FETCH_ADD = 0;

  /** READs and atomics that the end serves at once. */
  private static final int DEPTH = 2;

  final TestPipe in = new TestPipe();
  final TestPipe out = new TestPipe();
  final StreamEnd end = new StreamEnd(in, out);

  /** Two words of memory. */
  final Region counter = end.host.register(16);

  HostilePeer() {
    end.engine.start(new StreamTerms(false, true, DEPTH, DEPTH, Role.ACTIVE));
  }

  /** Makes the end post an atomic, whose response must have the identifier 1. */
  void isAskedToAdd() {
    end.post(
        new SendWorkRequest(1).id(1).fetchAndAdd(8, 7, 1).buffer(counter.address, 8, counter.key));
    assertThat(end.turn()).isTrue();
  }

  /** Sends bytes and runs the end until nothing is left to do. */
  void say(String hex) throws IOException {
    send(hex);
    boolean more = true;
    while (more) {
      more = end.turn();
    }
  }

  void send(String hex) throws IOException {
    assertThat(in.write(ByteBuffer.wrap(HexFormat.of().parseHex(hex)))).isPositive();
  }

  /** Returns the cause in the TERMINATE that the engine sent, or null. */
  @Nullable TerminateCause told() throws IOException {
    ByteBuffer all = ByteBuffer.allocate(out.length());
    assertThat(out.read(all)).isGreaterThanOrEqualTo(-1);
    all.flip();
    @Nullable TerminateCause cause = null;
    for (int at = 0; at < all.limit(); ) {
      int length = 2 + all.getShort(at);
      if ((all.get(at + 3) & 0x0f) == 7) {
        cause = Terminate.parse(all, at + 20, length - 20);
      }
      at += length + (-length & 3) + 4;
    }
    return cause;
  }

  /** Asserts that the engine has ended the stream for this cause and changed no memory. */
  void assertEnded(TerminateCause cause, AsyncEvent.Type event) throws IOException {
    assertThat(told()).isEqualTo(cause);
    assertThat(end.engine.state()).isEqualTo(State.ENDED);
    assertThat(end.host.events).containsExactly(event);
    assertThat(counter.getLong(0)).isZero();
    assertThat(counter.getLong(8)).isZero();
  }

  static String add(int sequence, int key, long at, long addend) {
    return request(sequence, FETCH_ADD, key, at, addend, 0, 0, 0);
  }

  static String request(
      int sequence,
      int operation,
      int key,
      long at,
      long data,
      long mask,
      long compare,
      long compareMask) {
    return untagged(
        REQUEST,
        1,
        sequence,
        0,
        payload(operation, sequence, key, at, data, mask, compare, compareMask));
  }

  static String payload(
      int operation,
      int identifier,
      int key,
      long at,
      long data,
      long mask,
      long compare,
      long compareMask) {
    return hex(operation)
        + hex(identifier)
        + hex(key)
        + hex(at)
        + hex(data)
        + hex(mask)
        + hex(compare)
        + hex(compareMask);
  }

  static String untagged(int opcode, int queue, int sequence, int offset, String payload) {
    int length = 18 + payload.length() / 2;
    return HexFormat.of().toHexDigits((short) length)
        + "41"
        + HexFormat.of().toHexDigits((byte) (0x40 | opcode))
        + hex(0)
        + hex(queue)
        + hex(sequence)
        + hex(offset)
        + payload
        + "00".repeat(-(length + 2) & 3)
        + "00000000";
  }

  static String hex(int value) {
    return HexFormat.of().toHexDigits(value);
  }

  static String hex(long value) {
    return HexFormat.of().toHexDigits(value);
  }
}
