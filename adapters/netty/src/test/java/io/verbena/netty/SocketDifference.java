// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The answers of RDMA channels that differ from those of sockets, with the reasons. */
@SuppressWarnings("ImmutableEnumChecker") // List.of is immutable
enum SocketDifference {
  WILDCARD(
      "a server that binds the wildcard listens on its HCA, whose address it tells",
      "identity: a server binds to the wildcard, its host then"),

  KEEP_ALIVE(
      "no system ends the connections of a process that was killed, so that a silent peer is asked"
          + " unless `SO_KEEPALIVE` is set to `false`",
      "liveness: the peer is killed, without SO_KEEPALIVE",
      "liveness: SO_KEEPALIVE if nobody sets it"),

  SOCKET_OPTIONS(
      "there is no socket of the JDK to set them at", "options: SO_SNDBUF of the JDK, at a client"),

  BACKLOG(
      "a connection is not established before the server's program takes it, and is rejected where"
          + " `SO_BACKLOG` requests wait already",
      "options: AUTO_READ off at a server, a connect",
      "options: SO_BACKLOG 1 and 20 connects, if the server does not read"),

  DEREGISTRATION(
      "a queue pair's completions come to the loop that it was made on",
      "life cycle: a channel is deregistered"),

  END_UNREAD(
      "the end comes as a completion, as `EPOLLRDHUP` does to epoll's channels; NIO's learn of it when"
          + " they read",
      "life cycle: AUTO_READ off, the peer closes");

  private final String reason;
  private final List<String> rows;

  SocketDifference(String reason, String... rows) {
    this.reason = reason;
    this.rows = List.of(rows);
  }

  String title() {
    String words = name().toLowerCase(Locale.ROOT).replace('_', ' ');
    return Character.toUpperCase(words.charAt(0)) + words.substring(1);
  }

  String reason() {
    return reason;
  }

  /** Returns the difference that explains a row, or null. */
  static @Nullable SocketDifference of(String row) {
    return Arrays.stream(values()).filter(each -> each.rows.contains(row)).findAny().orElse(null);
  }

  /** Returns all rows that are known to differ. */
  static List<String> rows() {
    return Arrays.stream(values()).flatMap(each -> each.rows.stream()).toList();
  }
}
