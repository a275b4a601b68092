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
 * The options that a program has set on a channel. They are also set on its socket, once it has
 * one; other options keep the socket's values. Thread-safe.
 */
final class SetOptions {
  private static final Logger LOG = System.getLogger("io.verbena.connection");

  private final Map<ChannelOption<?>, Object> values = new LinkedHashMap<>();
  private @Nullable ChannelConfig socket;

  /** Notes an option, and sets it on the socket, which may not know it. */
  synchronized <T> void set(ChannelOption<T> option, T value) {
    // Moved to the end: of two options that set the same thing, the later one holds.
    values.remove(option);
    values.put(option, value);
    ChannelConfig to = socket;
    if (to != null) {
      to.setOption(option, value);
    }
  }

  /**
   * Sets all noted options on a socket, and from now on those that change. A value that the socket
   * refuses is logged and left out, as Netty's bootstraps do.
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
