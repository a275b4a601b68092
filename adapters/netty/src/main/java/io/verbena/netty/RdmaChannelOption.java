// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.ChannelOption;

/** Options of RDMA channels, in addition to Netty's socket options. */
public final class RdmaChannelOption<T> extends ChannelOption<T> {
  /**
   * The most child channels that a {@link RdmaServerSocketChannel} has at once, including those
   * that are being accepted; at least 1, by default 2147483647, which is no limit. The connect of a
   * further client fails with a {@link java.net.ConnectException}, whose cause is a {@link
   * io.verbena.RdmaConnectException} with the {@link io.verbena.RejectReason}.
   */
  public static final ChannelOption<Integer> MAX_CONNECTIONS =
      valueOf(RdmaChannelOption.class, "MAX_CONNECTIONS");

  /**
   * The most child channels that a {@link RdmaServerSocketChannel} has at once for one client IP
   * address, counted and refused as with {@link #MAX_CONNECTIONS}. Where the fabric has no
   * addresses, as on {@code emulated://}, all clients count as one.
   */
  public static final ChannelOption<Integer> MAX_CONNECTIONS_PER_PEER =
      valueOf(RdmaChannelOption.class, "MAX_CONNECTIONS_PER_PEER");

  /**
   * The hook that decides which connections a {@link RdmaServerSocketChannel} accepts; none by
   * default.
   */
  public static final ChannelOption<RdmaAcceptHook> ACCEPT_HOOK =
      valueOf(RdmaChannelOption.class, "ACCEPT_HOOK");

  /**
   * The bytes that a connecting {@link RdmaSocketChannel} sends to the server's accept hook; none
   * by default. A connect with more than {@link io.verbena.ConnectRequest#MAX_PRIVATE_DATA} bytes
   * fails.
   */
  public static final ChannelOption<byte[]> PRIVATE_DATA =
      valueOf(RdmaChannelOption.class, "PRIVATE_DATA");

  /**
   * Whether all received bytes are copied into buffers of the channel's allocator; false by
   * default, so that large messages are handed out in registered memory. A {@link
   * RdmaServerSocketChannel} passes the option on to the channels that it accepts. For frameworks
   * that recognize a buffer by its allocator, such as Vert.x, which releases only buffers of
   * Netty's pools.
   */
  public static final ChannelOption<Boolean> COPY_READS =
      valueOf(RdmaChannelOption.class, "COPY_READS");

  /**
   * How long a connect of an {@link AutoSocketChannel} tries RDMA before it tries TCP, in
   * milliseconds; at least 1, by default 500. At most half of {@code CONNECT_TIMEOUT_MILLIS} is
   * used.
   */
  public static final ChannelOption<Integer> RDMA_TIMEOUT_MILLIS =
      valueOf(RdmaChannelOption.class, "RDMA_TIMEOUT_MILLIS");

  /**
   * How long a connect of an {@link AutoSocketChannel} uses the medium that led to its peer before,
   * in milliseconds; at least 0, by default 60,000. After that time one connect tries RDMA again.
   */
  public static final ChannelOption<Integer> MEDIUM_MEMORY_MILLIS =
      valueOf(RdmaChannelOption.class, "MEDIUM_MEMORY_MILLIS");

  @SuppressWarnings("deprecation") // Netty's own options are made by it
  private RdmaChannelOption() {
    super(null);
  }

  /**
   * Returns the value of an option; throws {@link IllegalArgumentException} if it is below {@code
   * least}.
   */
  static int checked(String option, int value, int least) {
    if (value < least) {
      throw new IllegalArgumentException(option + ": " + value + " (expected: >= " + least + ")");
    }
    return value;
  }
}
