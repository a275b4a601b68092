// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The options that a program has set of a channel, which its socket gets too, once it has one.
 * Options that were not set stay as a socket has them. Thread-safe.
 */
final class SetOptions {
  private static final Logger LOG = System.getLogger("io.verbena.connection");

  private final Map<ChannelOption<?>, Object> values = new LinkedHashMap<>();
  private @Nullable ChannelConfig socket;

  /** Notes an option, and sets it of the socket, which may not know it. */
  synchronized <T> void set(ChannelOption<T> option, T value) {
    // Behind the others: of two that set one thing, the later holds.
    values.remove(option);
    values.put(option, value);
    ChannelConfig to = socket;
    if (to != null) {
      to.setOption(option, value);
    }
  }

  /**
   * Sets all options of a socket, and from now on those that change. A value that the socket
   * refuses is logged and left out, as by Netty's bootstraps.
   */
  synchronized void mirrorTo(ChannelConfig config) {
    values.forEach((option, value) -> mirror(config, option, value));
    socket = config;
  }

  @SuppressWarnings("unchecked") // each was put with its value
  private static void mirror(ChannelConfig config, ChannelOption<?> option, Object value) {
    try {
      config.setOption((ChannelOption<Object>) option, value);
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, () -> option + ": " + value + ": refused by the socket", e);
    }
  }

  /** Returns the options of the socket; null if there is none. */
  synchronized @Nullable ChannelConfig socket() {
    return socket;
  }
}
