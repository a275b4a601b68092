// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.util.HexFormat;

/** What peers of iWARP write and read by hand, in hexadecimal. */
public final class ForeignPeer {
  /** Any port of this machine. */
  public static final URI ANY = URI.create("iwarp://" + Loopbacks.ADDRESS + ":0");

  /** How long reads wait, in milliseconds. */
  public static final int TIMEOUT = (int) Caller.LIMIT.toMillis();

  /** Revision 2, no CRC, 4 and 4 READs, no empty message first: as siw asks. */
  public static final String REQUEST = hex("MPA ID Req Frame") + "1002000400040004";

  /** The same, of a peer that has the extensions of RFC 7306. */
  public static final String EXTENDED_REQUEST = hex("MPA ID Req Frame") + "1402000400040004";

  /** How each reply begins. */
  public static final String REPLY = hex("MPA ID Rep Frame");

  private static final int IDLE_TURNS = 1000;

  private ForeignPeer() {}

  /** A peer that has connected by TCP. */
  public static Socket connect(ConnectionListener listener) throws IOException {
    Socket socket = new Socket(listener.address().getHost(), listener.address().getPort());
    socket.setSoTimeout(TIMEOUT);
    return socket;
  }

  public static void write(Socket to, String hex) throws IOException {
    to.getOutputStream().write(HexFormat.of().parseHex(hex));
  }

  /** So many bytes, or what comes before the end. */
  public static String read(Socket from, int bytes) throws IOException {
    return HexFormat.of().formatHex(from.getInputStream().readNBytes(bytes));
  }

  /** Whether the other end has closed, with or without a reset. */
  public static boolean isClosed(Socket peer) {
    try {
      InputStream in = peer.getInputStream();
      return in.read() < 0;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  /** For who has entered the fabric: drives it up to the turn in which a queue pair gets there. */
  public static void driveUntil(IwarpFabric fabric, QueuePair pair, QueuePairState state) {
    long deadline = System.nanoTime() + Caller.LIMIT.toNanos();
    while (pair.state() != state) {
      assertThat(System.nanoTime()).as("%s in time", state).isLessThan(deadline);
      boolean unused = fabric.progress();
    }
  }

  /** For who has entered the fabric: drives it until there is nothing to do, for a while. */
  public static void driveUntilIdle(IwarpFabric fabric) {
    for (int idle = 0; idle < IDLE_TURNS; ) {
      idle = fabric.progress() ? 0 : idle + 1;
    }
  }

  public static String hex(String text) {
    return HexFormat.of().formatHex(text.getBytes(US_ASCII));
  }
}
