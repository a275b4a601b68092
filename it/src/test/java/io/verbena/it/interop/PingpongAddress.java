package io.verbena.it.interop;

import io.verbena.verbs.Gid;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Where a queue pair is, as {@code ibv_rc_pingpong} tells it over TCP: {@code
 * "0000:000000:000000:00000000000000000000000000000000"} and a NUL, for LID, queue pair, first PSN
 * and GID. The GID is four words of 8 digits, each of which {@code gid_to_wire_gid} writes in
 * network order.
 *
 * @param queuePair its number
 * @param psn the first PSN that it sends
 * @param gid of its port
 */
record PingpongAddress(int queuePair, int psn, Gid gid) {
  private static final int LENGTH = 52;
  private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};

  void writeTo(OutputStream out) throws IOException {
    String text = "%04x:%06x:%06x:%016x%016x\0".formatted(0, queuePair, psn, gid.high(), gid.low());
    out.write(text.getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  static PingpongAddress readFrom(InputStream in) throws IOException {
    byte[] message = new byte[LENGTH];
    new DataInputStream(in).readFully(message);
    String[] parts = new String(message, StandardCharsets.US_ASCII).trim().split(":", -1);
    return new PingpongAddress(
        Integer.parseInt(parts[1], 16),
        Integer.parseInt(parts[2], 16),
        new Gid(
            Long.parseUnsignedLong(parts[3].substring(0, 16), 16),
            Long.parseUnsignedLong(parts[3].substring(16), 16)));
  }

  /** The client's last word: a server sends its "done" only after the queue pairs are connected. */
  static void writeDone(OutputStream out) throws IOException {
    out.write(DONE);
    out.flush();
  }
}
