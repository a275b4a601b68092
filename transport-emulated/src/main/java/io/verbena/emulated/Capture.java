package io.verbena.emulated;

import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.roce.PcapWriter;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.SimulatedWire;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * Writes to a file what arrives at the ports of a wire, damaged packets too, as a capture at the
 * switch would have it.
 */
final class Capture implements SimulatedWire.Tap {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final PcapWriter writer;
  private final long begin = System.currentTimeMillis() * NANOS_PER_MILLI;
  private boolean closed;

  private Capture(PcapWriter writer) {
    this.writer = writer;
  }

  static Capture to(String file) {
    try {
      return new Capture(PcapWriter.create(Path.of(file)));
    } catch (IOException | InvalidPathException e) {
      throw new VerbsException(
          VerbsError.INVALID, "pcap: " + file + ": " + e + " (expected: a file to write)");
    }
  }

  @Override
  public void sent(long now, int source, int destination, Frame frame) {}

  @Override
  public void struck(long now, int source, int destination, Frame frame, Fault strike) {}

  @Override
  public synchronized void arrives(long now, int source, int destination, Frame frame) {
    if (!closed) {
      try {
        writer.write(frame, begin + now);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  synchronized void close() {
    if (!closed) {
      closed = true;
      try {
        writer.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
