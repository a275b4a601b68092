// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A client that asks a server for a connection. Nothing of it is proven but on a locked wire.
 *
 * @param peer the client's human-readable address, for logs
 * @param address of the client; null where the fabric has none, as on {@code emulated://}
 * @param privateData what the client's program sent along, read-only; empty if nothing
 */
public record ConnectRequest(
    String peer, @Nullable InetSocketAddress address, ByteBuffer privateData) {
  /**
   * The most bytes of private data. Of the 56 that the connection manager of any provider carries,
   * a transport's own handshake has the others.
   */
  public static final int MAX_PRIVATE_DATA = 24;

  /** Returns the private data that the client's program sent, for each caller from its start. */
  @Override
  public ByteBuffer privateData() {
    return privateData.asReadOnlyBuffer();
  }
}
