// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import org.jspecify.annotations.Nullable;

/**
 * The kind of sockets on loops of {@link RdmaSockets}. They carry TCP, with {@link
 * RdmaSockets.Builder#orTcp}, and datagrams.
 *
 * <p>Kinds other than NIO are Netty's native transports, for Linux. To use one, put the artifact
 * that is named here on the class path, with the classifier of the platform, {@code linux-x86_64}
 * for example; it brings Netty's classes along. On the module path the JVM must be told to resolve
 * both modules: {@code --add-modules
 * io.netty.transport.classes.epoll,io.netty.transport.epoll.linux.x86_64}, and likewise with {@code
 * io_uring} in both names.
 */
public enum SocketKind {
  /** The sockets of the JDK, which every platform has. */
  NIO,

  /** Netty's sockets on epoll: {@code io.netty:netty-transport-native-epoll}. */
  EPOLL,

  /**
   * Netty's sockets on io_uring: {@code io.netty:netty-transport-native-io_uring}. The kernel must
   * be new enough and allow io_uring: containers often forbid it by seccomp. Netty handles up to
   * 128 rounds of completions before the loop goes on, so sockets that are never idle delay RDMA on
   * their loop longer than those of the other kinds.
   */
  IO_URING;

  /** Returns whether this program can use such sockets on this host. */
  public boolean isAvailable() {
    return unavailabilityCause() == null;
  }

  /** Returns why this program cannot use such sockets on this host; null if it can. */
  public @Nullable Throwable unavailabilityCause() {
    try {
      return switch (this) {
        case NIO -> null;
        case EPOLL -> EpollSockets.unavailabilityCause();
        case IO_URING -> IoUringSockets.unavailabilityCause();
      };
    } catch (LinkageError e) {
      // Netty's classes are missing, or of a version that does not fit.
      return e;
    }
  }

  /**
   * Returns the factory of such sockets.
   *
   * @throws SocketsUnavailableException if they are not available
   */
  SocketFactory factory() {
    Throwable cause = unavailabilityCause();
    if (cause != null) {
      throw new SocketsUnavailableException(this, cause);
    }
    return switch (this) {
      case NIO -> SocketFactory.NIO;
      case EPOLL -> EpollSockets.factory();
      case IO_URING -> IoUringSockets.factory();
    };
  }
}
