// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.verbs.Gid;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * The first message of a host on the socket of another host:
 *
 * <pre>
 *  0 magic 4 | 4 version 2 | 6 length of the name 2 | 8 GID 16 | 24 name of the file with the rings
 * </pre>
 */
final class Introduction {
  private static final int MAGIC = 0x5642_4d45;
  private static final short VERSION = 2;
  private static final int HEADER = 24;
  private static final int LONGEST_NAME = 128;

  private final SocketChannel socket;
  private final ByteBuffer bytes = ByteBuffer.allocate(HEADER + LONGEST_NAME).limit(HEADER);

  Introduction(SocketChannel socket) {
    this.socket = socket;
  }

  static ByteBuffer of(Gid host, String rings) {
    byte[] name = rings.getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocate(HEADER + name.length)
        .putInt(MAGIC)
        .putShort(VERSION)
        .putShort((short) name.length)
        .putLong(host.high())
        .putLong(host.low())
        .put(name)
        .flip();
  }

  /**
   * Reads the bytes that have come; returns true once the message is complete.
   *
   * @throws IOException if the message is no introduction, or the peer is gone
   */
  boolean read() throws IOException {
    if (socket.read(bytes) < 0) {
      throw new EOFException("a peer closed before its introduction");
    }
    if (bytes.position() < HEADER) {
      return false;
    }
    int length = bytes.getShort(6);
    if (bytes.getInt(0) != MAGIC
        || bytes.getShort(4) != VERSION
        || length < 1
        || length > LONGEST_NAME) {
      throw new IOException("no introduction of version " + VERSION);
    }
    bytes.limit(HEADER + length);
    if (bytes.hasRemaining() && socket.read(bytes) < 0) {
      throw new EOFException("a peer closed before its introduction");
    }
    return !bytes.hasRemaining();
  }

  /** Returns a link to the sender, on the rings that the message names. */
  ShmLink link(SharedFolder folder, int ring) throws IOException {
    Gid peer = new Gid(bytes.getLong(8), bytes.getLong(16));
    String rings =
        new String(bytes.array(), HEADER, bytes.position() - HEADER, StandardCharsets.US_ASCII);
    return ShmLink.accept(folder, peer, rings, ring, socket);
  }

  void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new IllegalStateException("close socket", e);
    }
  }
}
