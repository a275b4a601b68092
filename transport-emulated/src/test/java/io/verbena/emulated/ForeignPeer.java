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

/** Bytes that iWARP peers write and read, in hexadecimal. */
public final class ForeignPeer {
  /** This machine's loopback address, with any free port. */
  public static final URI ANY = URI.create("iwarp://" + Loopbacks.ADDRESS + ":0");

  /** Timeout of reads in milliseconds. */
  public static final int TIMEOUT = (int) Caller.LIMIT.toMillis();

  /**
   * Revision 2, no CRC, 4 READs each way, and no empty first message: the request that siw sends.
   */
  public static final String REQUEST = hex("MPA ID Req Frame") + "1002000400040004";

  /** The same request from a peer with the extensions of RFC 7306. */
  public static final String EXTENDED_REQUEST = hex("MPA ID Req Frame") + "1402000400040004";

  /** The first bytes of every reply. */
  public static final String REPLY = hex("MPA ID Rep Frame");

  private static final int IDLE_TURNS = 1000;

  private ForeignPeer() {}

  /** Connects a peer to a listener by TCP. */
  public static Socket connect(ConnectionListener listener) throws IOException {
    Socket socket = new Socket(listener.address().getHost(), listener.address().getPort());
    socket.setSoTimeout(TIMEOUT);
    return socket;
  }

  public static void write(Socket to, String hex) throws IOException {
    to.getOutputStream().write(HexFormat.of().parseHex(hex));
  }

  /** Reads this many bytes, or fewer if the stream ends before. */
  public static String read(Socket from, int bytes) throws IOException {
    return HexFormat.of().formatHex(from.getInputStream().readNBytes(bytes));
  }

  /** Returns whether the other end has closed the connection, with or without a reset. */
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

  /** Drives a fabric that the caller has entered until the queue pair reaches the state. */
  public static void driveUntil(IwarpFabric fabric, QueuePair pair, QueuePairState state) {
    long deadline = System.nanoTime() + Caller.LIMIT.toNanos();
    while (pair.state() != state) {
      assertThat(System.nanoTime()).as("%s in time", state).isLessThan(deadline);
      boolean unused = fabric.progress();
    }
  }

  /** Drives a fabric that the caller has entered until a number of turns have found no work. */
  public static void driveUntilIdle(IwarpFabric fabric) {
    for (int idle = 0; idle < IDLE_TURNS; ) {
      idle = fabric.progress() ? 0 : idle + 1;
    }
  }

  public static String hex(String text) {
    return HexFormat.of().formatHex(text.getBytes(US_ASCII));
  }
}
