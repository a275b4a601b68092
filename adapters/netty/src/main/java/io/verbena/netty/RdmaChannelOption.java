// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.ChannelOption;

/** Options that channels over RDMA have beside those of sockets. */
public final class RdmaChannelOption<T> extends ChannelOption<T> {
  /**
   * Of a {@link RdmaServerSocketChannel}: the most child channels at once, those that are being
   * accepted with them; 2147483647, no limit, by default. Further clients get a {@link
   * java.net.ConnectException} that says so, whose cause is a {@link
   * io.verbena.RdmaConnectException} with the {@link io.verbena.RejectReason}.
   */
  public static final ChannelOption<Integer> MAX_CONNECTIONS =
      valueOf(RdmaChannelOption.class, "MAX_CONNECTIONS");

  /**
   * Of a {@link RdmaServerSocketChannel}: the most of those of one IP address, likewise. Where the
   * fabric has no addresses, as on {@code emulated://}, all clients are one.
   */
  public static final ChannelOption<Integer> MAX_CONNECTIONS_PER_PEER =
      valueOf(RdmaChannelOption.class, "MAX_CONNECTIONS_PER_PEER");

  /** Of a {@link RdmaServerSocketChannel}: decides which connections it takes; none by default. */
  public static final ChannelOption<RdmaAcceptHook> ACCEPT_HOOK =
      valueOf(RdmaChannelOption.class, "ACCEPT_HOOK");

  /**
   * Of a {@link RdmaSocketChannel} that connects: bytes for the server's hook; none by default. A
   * connect with more than {@link io.verbena.ConnectRequest#MAX_PRIVATE_DATA} fails.
   */
  public static final ChannelOption<byte[]> PRIVATE_DATA =
      valueOf(RdmaChannelOption.class, "PRIVATE_DATA");

  /**
   * Of a {@link RdmaSocketChannel}, and of a {@link RdmaServerSocketChannel} for the channels that
   * it accepts: whether all that is received is copied into buffers of the channel's allocator;
   * false by default, so that large messages are handed out in registered memory. For frameworks
   * that know a buffer by its allocator, as Vert.x does, which releases no other than those of
   * Netty's pools.
   */
  public static final ChannelOption<Boolean> COPY_READS =
      valueOf(RdmaChannelOption.class, "COPY_READS");

  /**
   * Of an {@link AutoSocketChannel}: how long a connect may try RDMA before it takes TCP, in
   * milliseconds; 500 by default. Half of {@code CONNECT_TIMEOUT_MILLIS} where that is less.
   */
  public static final ChannelOption<Integer> RDMA_TIMEOUT_MILLIS =
      valueOf(RdmaChannelOption.class, "RDMA_TIMEOUT_MILLIS");

  /**
   * Of an {@link AutoSocketChannel}: for how long a connect does as the last one to its peer did,
   * in milliseconds; 60,000 by default. One of those after it tries RDMA again.
   */
  public static final ChannelOption<Integer> MEDIUM_MEMORY_MILLIS =
      valueOf(RdmaChannelOption.class, "MEDIUM_MEMORY_MILLIS");

  @SuppressWarnings("deprecation") // Netty's own options are made by it
  private RdmaChannelOption() {
    super(null);
  }

  /** Returns the value of an option that has a least one. */
  static int checked(String option, int value, int least) {
    if (value < least) {
      throw new IllegalArgumentException(option + ": " + value + " (expected: >= " + least + ")");
    }
    return value;
  }
}
