// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import io.verbena.tools.end.QueuePairAddress;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Gid;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The address of a queue pair, as {@code ibv_rc_pingpong} and its kin send it over TCP: {@code
 * "0000:000000:000000:00000000000000000000000000000000"} and a NUL, for LID, queue pair, first PSN
 * and GID. The GID is four words of 8 digits, each of which {@code gid_to_wire_gid} writes in
 * network order.
 */
final class PingpongAddress {
  private static final int LENGTH = 52;
  private static final QueuePairAddress NONE = new QueuePairAddress(0, 0, 0, new Gid(0, 0));
  private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};

  private PingpongAddress() {}

  /**
   * Writes the addresses, followed by zeros.
   *
   * @param slots number of addresses on the wire; unused ones are zeros
   */
  static void write(List<QueuePairAddress> peers, int slots, OutputStream out) throws IOException {
    StringBuilder text = new StringBuilder(slots * LENGTH);
    for (int i = 0; i < slots; i++) {
      QueuePairAddress peer = i < peers.size() ? peers.get(i) : NONE;
      text.append(
          String.format(
              Locale.ROOT,
              "%04x:%06x:%06x:%016x%016x\0",
              peer.lid(),
              peer.queuePair(),
              peer.psn(),
              peer.gid().high(),
              peer.gid().low()));
    }
    out.write(text.toString().getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  /** Reads {@code slots} addresses and returns those that are not zeros. */
  static List<QueuePairAddress> read(int slots, InputStream in) throws IOException, ToolFailure {
    DataInputStream data = new DataInputStream(in);
    List<QueuePairAddress> peers = new ArrayList<>();
    for (int i = 0; i < slots; i++) {
      byte[] message = new byte[LENGTH];
      data.readFully(message);
      QueuePairAddress peer = parse(message);
      if (peer.queuePair() != 0) {
        peers.add(peer);
      }
    }
    return peers;
  }

  private static QueuePairAddress parse(byte[] message) throws ToolFailure {
    String text = new String(message, StandardCharsets.US_ASCII).trim();
    String[] parts = text.split(":", -1);
    try {
      return new QueuePairAddress(
          Integer.parseInt(parts[0], 16),
          Integer.parseInt(parts[1], 16),
          Integer.parseInt(parts[2], 16),
          new Gid(
              Long.parseUnsignedLong(parts[3].substring(0, 16), 16),
              Long.parseUnsignedLong(parts[3].substring(16), 16)));
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw new ToolFailure(
          "Couldn't read remote address: " + text,
          "start the other end as a pingpong of the same transport, on this port");
    }
  }

  /** Sends the client's final message. */
  static void writeDone(OutputStream out) throws IOException {
    out.write(DONE);
    out.flush();
  }

  /** Waits for the client's final message, or for its end. */
  static void readDone(InputStream in) throws IOException {
    in.readNBytes(DONE.length);
  }
}
