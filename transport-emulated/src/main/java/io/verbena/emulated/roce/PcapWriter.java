// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes packets to a file that Wireshark and tcpdump read: classic pcap, times in nanoseconds.
 * Each packet is written to the file at once, so the file is complete even if the program dies.
 *
 * <p>Thread-safe: packets are written whole, in the order of the calls.
 */
public final class PcapWriter implements AutoCloseable {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  /** The number of bytes by which an IPv6 header exceeds an IPv4 header. */
  private static final int MORE = Ipv6Layout.LENGTH - Ipv4Layout.LENGTH;

  /** The most bytes of a packet. */
  public static final int LONGEST = RocePacket.CAPACITY + MORE;

  /** A stream rather than a channel, which an interrupted thread would close. */
  private final OutputStream file;

  private final ByteBuffer record = ByteBuffer.allocate(PcapLayout.RECORD_HEADER_LENGTH + LONGEST);

  private PcapWriter(OutputStream file) {
    this.file = file;
  }

  /**
   * Creates the file; overwrites an existing one.
   *
   * @throws IOException if the file cannot be written
   */
  public static PcapWriter create(Path path) throws IOException {
    OutputStream file = Files.newOutputStream(path);
    PcapWriter writer = new PcapWriter(file);
    try {
      writer.writeHeader();
    } catch (IOException e) {
      file.close();
      throw e;
    }
    return writer;
  }

  /**
   * Writes a packet that is sealed or was brought in, valid or damaged.
   *
   * @param nanos the time since 1970, or since a simulation began; at least 0
   * @throws IllegalArgumentException if the time is negative, or the packet has no bytes or too
   *     many
   * @throws IOException if the file cannot be written, or is closed
   */
  public synchronized void write(RocePacket packet, long nanos) throws IOException {
    int length = packet.length();
    check(nanos, length, RocePacket.CAPACITY);
    int captured = packet.isOverIpv6() ? length + MORE : length;
    begin(nanos, captured)
        .put(PcapLayout.RECORD_HEADER_LENGTH + captured - length, packet.bytes(), 0, length);
    if (packet.isOverIpv6()) {
      record.put(PcapLayout.RECORD_HEADER_LENGTH, packet.ipv6Header(), 0, Ipv6Layout.LENGTH);
    }
    writeRecord();
  }

  /**
   * Writes a packet of any protocol.
   *
   * @param packet the bytes from the IP header on, at index 0
   * @throws IllegalArgumentException if the time is negative, or the length is not 1 to {@link
   *     #LONGEST}
   * @throws IOException if the file cannot be written, or is closed
   */
  public synchronized void write(ByteBuffer packet, int length, long nanos) throws IOException {
    check(nanos, length, LONGEST);
    begin(nanos, length).put(PcapLayout.RECORD_HEADER_LENGTH, packet, 0, length);
    writeRecord();
  }

  private static void check(long nanos, int length, int most) {
    if (nanos < 0) {
      throw new IllegalArgumentException("nanos: " + nanos + " (expected: >= 0)");
    }
    if (length < 1 || length > most) {
      throw new IllegalArgumentException("length: " + length + " (expected: 1 to " + most + ")");
    }
  }

  private ByteBuffer begin(long nanos, int length) {
    return record
        .clear()
        .putInt(PcapLayout.SECONDS_OFFSET, (int) (nanos / NANOS_PER_SECOND))
        .putInt(PcapLayout.NANOS_OFFSET, (int) (nanos % NANOS_PER_SECOND))
        .putInt(PcapLayout.CAPTURED_OFFSET, length)
        .putInt(PcapLayout.LENGTH_OFFSET, length)
        .limit(PcapLayout.RECORD_HEADER_LENGTH + length);
  }

  private void writeHeader() throws IOException {
    record
        .clear()
        .putInt(PcapLayout.MAGIC)
        .putShort(PcapLayout.MAJOR_VERSION)
        .putShort(PcapLayout.MINOR_VERSION)
        .putLong(0)
        .putInt(LONGEST)
        .putInt(PcapLayout.LINK_TYPE)
        .flip();
    writeRecord();
  }

  private void writeRecord() throws IOException {
    file.write(record.array(), 0, record.limit());
  }

  @Override
  public synchronized void close() throws IOException {
    file.close();
  }
}
