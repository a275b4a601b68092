// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Mtu;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages that the two ends of a perftest program exchange over TCP. In each step both ends
 * write a message of the same length, the client first and the server when it has read the
 * client's.
 *
 * <p>The programs meet at their addresses again and again, each more or less often. The client has
 * to know how often its server does; the server reads each message, and answers it.
 */
final class PerftestExchange {
  /** Of the programs that it was written for, and what they look at to know what to exchange. */
  private static final byte[] VERSION =
      Arrays.copyOf("6.06".getBytes(StandardCharsets.US_ASCII), 16);

  /** The size of the buffer in which received messages go round, if a message has less. */
  static final int CYCLE_BUFFER = 4096;

  private static final int CACHE_LINE = 64;
  private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};

  private final Socket socket;
  private final boolean client;
  private final DataInputStream in;
  private final OutputStream out;
  private Mtu mtu;
  private List<PerftestAddress> ours = List.of();
  private boolean done;
  private @Nullable PerftestReport told;

  private PerftestExchange(Socket socket, boolean client, Mtu mtu) throws IOException {
    this.socket = socket;
    this.client = client;
    this.mtu = mtu;
    in = new DataInputStream(socket.getInputStream());
    out = socket.getOutputStream();
  }

  /** Agrees on version, strides and MTU. */
  static PerftestExchange agree(Socket socket, boolean client, Mtu mtu)
      throws IOException, ToolFailure {
    PerftestExchange exchange = new PerftestExchange(socket, client, mtu);
    exchange.swap(VERSION);
    exchange.swap(ByteBuffer.allocate(Integer.BYTES).putInt(CYCLE_BUFFER).array());
    exchange.swap(ByteBuffer.allocate(Integer.BYTES).putInt(CACHE_LINE).array());
    exchange.agreeOnMtu();
    return exchange;
  }

  private void agreeOnMtu() throws IOException, ToolFailure {
    byte[] theirs = swap(new byte[] {(byte) ('0' + mtu.code()), 0});
    int code = theirs[0] - '0';
    if (code < Mtu.MTU_256.code() || code > Mtu.MTU_4096.code()) {
      throw new ToolFailure(
          "MTU of the other end: code " + code + " (expected: 1..5)",
          "start perftest 4.5, or `verbena perf`, at the other end");
    }
    for (Mtu each : Mtu.values()) {
      if (each.code() == code && code < mtu.code()) {
        mtu = each;
      }
    }
  }

  /** The smaller of both ends' MTUs. */
  Mtu mtu() {
    return mtu;
  }

  private byte[] swap(byte[] mine) throws IOException {
    byte[] theirs = new byte[mine.length];
    if (client) {
      out.write(mine);
    }
    in.readFully(theirs);
    if (!client) {
      out.write(mine);
    }
    return theirs;
  }

  /** Swaps addresses, one after the other. */
  List<PerftestAddress> shakeHands(List<PerftestAddress> mine) throws IOException, ToolFailure {
    ours = List.copyOf(mine);
    return shakeHands();
  }

  /** Swaps all addresses again. */
  List<PerftestAddress> shakeHands() throws IOException, ToolFailure {
    List<PerftestAddress> theirs = new ArrayList<>();
    for (PerftestAddress each : ours) {
      theirs.add(PerftestAddress.decode(swap(each.encode())));
    }
    return theirs;
  }

  /** Waits until both ends have come this far; they exchange their first addresses again. */
  void barrier() throws IOException {
    swap(ours.get(0).encode());
  }

  /** Returns whether a message of the peer waits to be read. */
  boolean isSpokenTo() throws IOException {
    return !done && in.available() > 0;
  }

  /**
   * Reads a message of the client and replies to it; for the server.
   *
   * @return whether it was the client's last one
   */
  boolean answer() throws IOException {
    byte[] first = new byte[PerftestAddress.FIRST];
    in.readFully(first);
    if (Arrays.equals(first, DONE)) {
      done = true;
    } else if (first[first.length - 1] == ':') {
      in.readFully(new byte[PerftestAddress.LENGTH - first.length]);
      out.write(ours.get(0).encode());
    } else {
      byte[] size = Arrays.copyOf(first, Long.BYTES);
      in.readFully(size, first.length, size.length - first.length);
      out.write(new byte[Long.BYTES]);
      told = restOfReport(ByteBuffer.wrap(size).getLong(), PerftestReport.NONE);
    }
    return done;
  }

  /**
   * Replies to the client until it has ended; for the server.
   *
   * @return what the client reported, or null if it did not
   */
  @Nullable PerftestReport answerToTheEnd(Duration limit) throws IOException {
    socket.setSoTimeout((int) Math.min(Integer.MAX_VALUE, limit.toMillis()));
    try {
      while (!done) {
        answer();
      }
    } catch (EOFException | SocketException e) {
      // Some of perftest's programs end without a last message.
      done = true;
    }
    return told;
  }

  /** Swaps reports. */
  PerftestReport report(PerftestReport mine) throws IOException {
    return restOfReport(swapLong(mine.size()), mine);
  }

  private PerftestReport restOfReport(long size, PerftestReport mine) throws IOException {
    return new PerftestReport(
        size,
        swapLong(mine.count()),
        swapDouble(mine.peak()),
        swapDouble(mine.average()),
        swapDouble(mine.messageRate()));
  }

  /** Sends the client's last barrier and last message. */
  void end() throws IOException {
    try {
      barrier();
      out.write(DONE);
    } catch (EOFException | SocketException e) {
      // Some of perftest's programs end without a last message.
      done = true;
    }
  }

  private long swapLong(long mine) throws IOException {
    return ByteBuffer.wrap(swap(ByteBuffer.allocate(Long.BYTES).putLong(mine).array())).getLong();
  }

  private double swapDouble(double mine) throws IOException {
    return Double.longBitsToDouble(swapLong(Double.doubleToRawLongBits(mine)));
  }
}
