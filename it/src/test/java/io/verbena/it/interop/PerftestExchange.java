package io.verbena.it.interop;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * What the two ends of a perftest program tell each other over TCP beside what they measure. In
 * each step both ends write a message of the same length, the client first and the server when it
 * has read the client's.
 */
final class PerftestExchange {
  /** Of the programs that it was written for, and what they look at to know what to exchange. */
  private static final byte[] VERSION =
      Arrays.copyOf("6.06".getBytes(StandardCharsets.US_ASCII), 16);

  private static final byte[] MTU_1024 = {'3', 0};
  private static final int CYCLE_BUFFER = 4096;
  private static final int CACHE_LINE = 64;

  private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};

  private final boolean client;
  private final DataInputStream in;
  private final OutputStream out;
  private PerftestAddress ours = PerftestAddress.NOWHERE;

  private PerftestExchange(Socket socket, boolean client) throws IOException {
    this.client = client;
    in = new DataInputStream(socket.getInputStream());
    out = socket.getOutputStream();
  }

  /** As the end that connected; agrees on version, strides and MTU. */
  static PerftestExchange client(Socket socket) throws IOException {
    return new PerftestExchange(socket, true).agree();
  }

  /** As the end that was connected to. */
  static PerftestExchange server(Socket socket) throws IOException {
    return new PerftestExchange(socket, false).agree();
  }

  private PerftestExchange agree() throws IOException {
    swap(VERSION);
    swap(ByteBuffer.allocate(Integer.BYTES).putInt(CYCLE_BUFFER).array());
    swap(ByteBuffer.allocate(Integer.BYTES).putInt(CACHE_LINE).array());
    swap(MTU_1024);
    return this;
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

  /** Swaps addresses. */
  PerftestAddress shakeHands(PerftestAddress mine) throws IOException {
    ours = mine;
    return PerftestAddress.decode(swap(mine.encode()));
  }

  /** Both ends have come this far; they say so by their addresses again. */
  void barrier() throws IOException {
    shakeHands(ours);
  }

  /** The last barrier, and the client's last word. */
  void end() throws IOException {
    barrier();
    if (client) {
      out.write(DONE);
    } else {
      in.readFully(new byte[DONE.length]);
    }
  }

  /** Swaps what the bandwidth programs report. */
  PerftestReport report(PerftestReport mine) throws IOException {
    return new PerftestReport(
        swapLong(mine.size()),
        swapLong(mine.count()),
        swapDouble(mine.peak()),
        swapDouble(mine.average()),
        swapDouble(mine.messageRate()));
  }

  private long swapLong(long mine) throws IOException {
    return ByteBuffer.wrap(swap(ByteBuffer.allocate(Long.BYTES).putLong(mine).array())).getLong();
  }

  private double swapDouble(double mine) throws IOException {
    return Double.longBitsToDouble(swapLong(Double.doubleToRawLongBits(mine)));
  }
}
