// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.capture;

import io.verbena.emulated.hca.FailureLog;
import io.verbena.emulated.roce.PcapWriter;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes streams to a file that Wireshark reads. Segments, sequence numbers and acknowledgements
 * are synthesized around the bytes that a socket sent and received, in the same order: the kernel's
 * own segments are not visible here. For threads that have entered the fabric.
 *
 * <p>If a write to the file fails, the failure is logged and the capture ends.
 */
public final class TcpCapture implements AutoCloseable {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** The most bytes of an end that the other end has not acknowledged. */
  private static final int MOST_OPEN = TcpLayout.MAX_WINDOW / 2;

  private final PcapWriter writer;
  private final Segment segment = new Segment();
  private final Set<Ends> streams = new HashSet<>();
  private final long epoch = System.currentTimeMillis() * NANOS_PER_MILLI - System.nanoTime();
  private boolean closed;

  private record Ends(InetSocketAddress active, InetSocketAddress passive) {}

  private TcpCapture(PcapWriter writer) {
    this.writer = writer;
  }

  /**
   * Creates the file.
   *
   * @throws VerbsException {@code INVALID} if the file cannot be created
   */
  public static TcpCapture to(String file) {
    try {
      return new TcpCapture(PcapWriter.create(Path.of(file)));
    } catch (IOException | InvalidPathException e) {
      throw new VerbsException(
          VerbsError.INVALID, "pcap: " + file + ": " + e + " (expected: a file to write)");
    }
  }

  /**
   * Begins a stream with its first three segments.
   *
   * @param active the address of the end that connected
   * @return the stream, or null if its other end is captured here already, which writes both
   *     directions
   */
  public @Nullable Stream begin(InetSocketAddress active, InetSocketAddress passive) {
    Ends ends = new Ends(active, passive);
    if (!streams.add(ends)) {
      return null;
    }
    Stream stream = new Stream(ends);
    stream.begin();
    return stream;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      try {
        writer.close();
      } catch (IOException e) {
        FailureLog.get().failed(e);
      }
    }
  }

  /** Both directions of a stream. */
  public final class Stream {
    private final Ends ends;
    private final boolean overIpv6;

    /** The next sequence numbers of both ends. */
    private int activeNext;

    private int passiveNext;

    /** The last acknowledgements that both ends have sent. */
    private int activeAcknowledged;

    private int passiveAcknowledged;
    private boolean activeEnded;
    private boolean passiveEnded;

    private Stream(Ends ends) {
      this.ends = ends;
      overIpv6 = Segment.isIpv6(ends.active);
    }

    private void begin() {
      write(/* byActive= */ true, TcpLayout.SYN, 0);
      activeNext++;
      write(/* byActive= */ false, TcpLayout.SYN | TcpLayout.ACK, 0);
      passiveNext++;
      write(/* byActive= */ true, TcpLayout.ACK, 0);
    }

    /** Writes bytes that have gone from one end to the other. */
    public void bytes(boolean byActive, ByteBuffer of, int from, int end) {
      for (int at = from; at < end; ) {
        int length = Math.min(end - at, Segment.MOST_PAYLOAD);
        segment.payload(overIpv6, of, at, length);
        write(byActive, TcpLayout.PSH | TcpLayout.ACK, length);
        at += length;
        if (byActive) {
          activeNext += length;
        } else {
          passiveNext += length;
        }
        int open = byActive ? activeNext - passiveAcknowledged : passiveNext - activeAcknowledged;
        if (open > MOST_OPEN) {
          write(!byActive, TcpLayout.ACK, 0);
        }
      }
    }

    /** Writes the FIN of an end, once. */
    public void end(boolean byActive) {
      if (byActive ? activeEnded : passiveEnded) {
        return;
      }
      write(byActive, TcpLayout.FIN | TcpLayout.ACK, 0);
      if (byActive) {
        activeNext++;
        activeEnded = true;
      } else {
        passiveNext++;
        passiveEnded = true;
      }
    }

    /** Writes the reset by an end, once. */
    public void reset(boolean byActive) {
      if (!activeEnded || !passiveEnded) {
        write(byActive, TcpLayout.RST | TcpLayout.ACK, 0);
        activeEnded = true;
        passiveEnded = true;
      }
    }

    /** Forgets the stream. */
    public void close() {
      streams.remove(ends);
    }

    private void write(boolean byActive, int flags, int payload) {
      int acknowledgement = byActive ? passiveNext : activeNext;
      if (byActive) {
        activeAcknowledged = acknowledgement;
      } else {
        passiveAcknowledged = acknowledgement;
      }
      segment.end(
          byActive ? ends.active : ends.passive,
          byActive ? ends.passive : ends.active,
          flags,
          byActive ? activeNext : passiveNext,
          acknowledgement,
          payload);
      if (closed) {
        return;
      }
      try {
        writer.write(segment.bytes, segment.length(), epoch + System.nanoTime());
      } catch (IOException e) {
        FailureLog.get().failed(e);
        TcpCapture.this.close();
      }
    }
  }
}
