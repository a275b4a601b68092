// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.hca.FailureLog;
import io.verbena.emulated.roce.PcapWriter;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.emulated.wire.UdpWire;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * Writes the packets that pass a wire to a file, including damaged ones, as a capture at the switch
 * would. Thread-safe.
 *
 * <p>If writing to the file fails, the failure is logged, and the capture ends.
 */
public final class Capture implements SimulatedWire.Tap, UdpWire.Capture {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final PcapWriter writer;
  private final long begin = System.currentTimeMillis() * NANOS_PER_MILLI;
  private boolean closed;

  Capture(PcapWriter writer) {
    this.writer = writer;
  }

  /**
   * Creates the file.
   *
   * @throws VerbsException {@code INVALID} if it cannot be created
   */
  public static Capture to(String file) {
    try {
      return new Capture(PcapWriter.create(Path.of(file)));
    } catch (IOException | InvalidPathException e) {
      throw new VerbsException(
          VerbsError.INVALID, "pcap: " + file + ": " + e + " (expected: a file to write)");
    }
  }

  @Override
  public void sent(long now, int source, int destination, RocePacket packet) {}

  @Override
  public void struck(long now, int source, int destination, RocePacket packet, Fault strike) {}

  @Override
  public void arrives(long now, int source, int destination, RocePacket packet) {
    write(packet, begin + now);
  }

  @Override
  public void packet(RocePacket packet) {
    write(packet, System.currentTimeMillis() * NANOS_PER_MILLI);
  }

  private synchronized void write(RocePacket packet, long nanos) {
    if (!closed && packet.length() <= RocePacket.CAPACITY) {
      try {
        writer.write(packet, nanos);
      } catch (IOException e) {
        FailureLog.get().failed(e);
        close();
      }
    }
  }

  /** Closes the file; later packets are not written. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      try {
        writer.close();
      } catch (IOException e) {
        FailureLog.get().failed(e);
      }
    }
  }
}
