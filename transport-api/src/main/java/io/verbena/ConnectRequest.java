// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A client's request for a connection. Its contents are authenticated only on a locked wire.
 *
 * @param peer the client's human-readable address, for logs
 * @param address the client's address; null if the fabric has no addresses, as on {@code
 *     emulated://}
 * @param privateData the bytes that the client's program sent, read-only; may be empty
 */
public record ConnectRequest(
    String peer, @Nullable InetSocketAddress address, ByteBuffer privateData) {
  /**
   * The most bytes of private data. The connection manager of every provider carries 56; the
   * transport's own handshake uses the others.
   */
  public static final int MAX_PRIVATE_DATA = 24;

  /**
   * Returns the private data that the client's program sent; each call returns a new buffer at its
   * start.
   */
  @Override
  public ByteBuffer privateData() {
    return privateData.asReadOnlyBuffer();
  }
}
