// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The options that a program has set of a channel, which its socket gets too, once it has one.
 * Options that were not set stay as a socket has them. Thread-safe.
 */
final class SetOptions {
  private final Map<ChannelOption<?>, Object> values = new LinkedHashMap<>();
  private @Nullable ChannelConfig socket;

  /** Notes an option, and sets it of the socket, which may not know it. */
  synchronized <T> void set(ChannelOption<T> option, T value) {
    values.put(option, value);
    ChannelConfig to = socket;
    if (to != null) {
      to.setOption(option, value);
    }
  }

  /** Sets all options of a socket, and from now on those that change. */
  @SuppressWarnings("unchecked") // each was put with its value
  synchronized void mirrorTo(ChannelConfig config) {
    values.forEach((option, value) -> config.setOption((ChannelOption<Object>) option, value));
    socket = config;
  }

  /** Returns the options of the socket; null if there is none. */
  synchronized @Nullable ChannelConfig socket() {
    return socket;
  }
}
