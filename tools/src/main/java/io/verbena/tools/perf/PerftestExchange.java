// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Mtu;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages that the two ends of a perftest program exchange. In each step both ends write a
 * message of the same length, the client first and the server when it has read the client's.
 *
 * <p>The programs repeat the exchange of addresses as a barrier, a different number of times each.
 * The client has to know the number of its server; the server reads each message, and answers it.
 */
final class PerftestExchange {
  /** The version of the programs, by which they decide what to exchange. */
  private static final byte[] VERSION =
      Arrays.copyOf("6.06".getBytes(StandardCharsets.US_ASCII), 16);

  /** The least size of perftest's ring buffer of received messages. */
  static final int CYCLE_BUFFER = 4096;

  /** No limit, in practice. */
  static final Duration WITHOUT_LIMIT = Duration.ofNanos(Long.MAX_VALUE);

  private static final int CACHE_LINE = 64;

  private final PerftestChannel channel;
  private final boolean client;
  private Mtu mtu;
  private List<PerftestAddress> ours = List.of(PerftestAddress.NONE);
  private int toAnswer;
  private int answered;
  private boolean done;
  private @Nullable PerftestReport peers;

  private PerftestExchange(PerftestChannel channel, boolean client, Mtu mtu) {
    this.channel = channel;
    this.client = client;
    this.mtu = mtu;
  }

  /** Agrees on version, strides and MTU. */
  static PerftestExchange agree(PerftestChannel channel, boolean client, Mtu mtu)
      throws IOException, ToolFailure, InterruptedException {
    PerftestExchange exchange = new PerftestExchange(channel, client, mtu);
    exchange.swap(VERSION);
    exchange.swap(ByteBuffer.allocate(Integer.BYTES).putInt(CYCLE_BUFFER).array());
    exchange.swap(ByteBuffer.allocate(Integer.BYTES).putInt(CACHE_LINE).array());
    exchange.agreeOnMtu();
    return exchange;
  }

  private void agreeOnMtu() throws IOException, ToolFailure, InterruptedException {
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

  /** The smaller MTU of the two ends. */
  Mtu mtu() {
    return mtu;
  }

  private byte[] swap(byte[] mine) throws IOException, ToolFailure, InterruptedException {
    if (client) {
      channel.write(mine);
      return channel.read(mine.length);
    }
    byte[] theirs = channel.read(mine.length);
    channel.write(mine);
    return theirs;
  }

  /** Swaps addresses, one after the other. */
  List<PerftestAddress> shakeHands(List<PerftestAddress> mine)
      throws IOException, ToolFailure, InterruptedException {
    ours = List.copyOf(mine);
    return shakeHands();
  }

  /** Swaps all addresses again. */
  List<PerftestAddress> shakeHands() throws IOException, ToolFailure, InterruptedException {
    List<PerftestAddress> theirs = new ArrayList<>();
    for (PerftestAddress each : ours) {
      theirs.add(channel.decode(swap(channel.encode(each))));
    }
    return theirs;
  }

  /**
   * Sets the number of addresses that the client still sends; for the server, if the client has no
   * separate last message.
   */
  void endsAfter(int addresses) {
    toAnswer = addresses;
    answered = 0;
  }

  /** Runs a barrier of both ends: they exchange their first addresses again. */
  void barrier() throws IOException, ToolFailure, InterruptedException {
    swap(channel.encode(ours.get(0)));
  }

  /** Sets the longest time to wait for a message. */
  void waitAtMost(Duration limit) throws IOException {
    channel.waitAtMost(limit);
  }

  /** Returns whether a message of the peer waits to be read. */
  boolean isSpokenTo() throws IOException, ToolFailure, InterruptedException {
    return !done && channel.isSpokenTo();
  }

  /**
   * Reads a message of the client and replies to it; for the server.
   *
   * @return whether it was the client's last one
   */
  boolean answer() throws IOException, ToolFailure, InterruptedException {
    byte[] message = channel.readAny();
    boolean hasLast = channel.lastMessage().length > 0;
    if (hasLast && Arrays.equals(message, channel.lastMessage())) {
      done = true;
    } else if (message.length == channel.addressLength()) {
      channel.write(channel.encode(ours.get(0)));
      answered++;
      done = !hasLast && answered == toAnswer;
    } else if (message.length != Long.BYTES) {
      throw new ToolFailure(
          "message of %d bytes (expected: %d or %d)"
              .formatted(message.length, channel.addressLength(), Long.BYTES),
          "start the same test at both ends, this tool or perftest 4.5");
    } else {
      channel.write(new byte[Long.BYTES]);
      peers = restOfReport(ByteBuffer.wrap(message).getLong(), PerftestReport.NONE);
    }
    return done;
  }

  /**
   * Replies to the client until it has ended; for the server.
   *
   * @return the client's report, or null if it sent none
   */
  @Nullable PerftestReport answerToTheEnd() throws IOException, ToolFailure, InterruptedException {
    try {
      while (!done) {
        answer();
      }
    } catch (EOFException | SocketException e) {
      // Some of perftest's programs end without a last message.
      done = true;
    }
    return peers;
  }

  /** Swaps reports. */
  PerftestReport report(PerftestReport mine) throws IOException, ToolFailure, InterruptedException {
    return restOfReport(swapLong(mine.size()), mine);
  }

  private PerftestReport restOfReport(long size, PerftestReport mine)
      throws IOException, ToolFailure, InterruptedException {
    return new PerftestReport(
        size,
        swapLong(mine.count()),
        swapDouble(mine.peak()),
        swapDouble(mine.average()),
        swapDouble(mine.messageRate()));
  }

  /** Sends the client's last barrier and last message. */
  void end() throws IOException, ToolFailure, InterruptedException {
    try {
      barrier();
      if (channel.lastMessage().length > 0) {
        channel.write(channel.lastMessage());
      }
    } catch (EOFException | SocketException e) {
      // Some of perftest's programs end without a last message.
      done = true;
    }
  }

  private long swapLong(long mine) throws IOException, ToolFailure, InterruptedException {
    return ByteBuffer.wrap(swap(ByteBuffer.allocate(Long.BYTES).putLong(mine).array())).getLong();
  }

  private double swapDouble(double mine) throws IOException, ToolFailure, InterruptedException {
    return Double.longBitsToDouble(swapLong(Double.doubleToRawLongBits(mine)));
  }
}
