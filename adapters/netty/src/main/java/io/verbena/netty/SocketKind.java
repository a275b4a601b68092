// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import org.jspecify.annotations.Nullable;

/**
 * The kind of sockets on loops of {@link RdmaSockets}, for what does not go over RDMA: TCP with
 * {@link RdmaSockets.Builder#orTcp}, and datagrams.
 *
 * <p>Those other than NIO are Netty's native transports, for Linux. A program that wants one puts
 * the artifact that is named here on its class path, with the classifier of its platform, {@code
 * linux-x86_64} say; Netty's classes come with that. On the module path the JVM must be told to
 * resolve both: {@code --add-modules
 * io.netty.transport.classes.epoll,io.netty.transport.epoll.linux.x86_64}, and likewise with {@code
 * io_uring} in both names.
 */
public enum SocketKind {
  /** The sockets of the JDK, which are there on every platform. */
  NIO,

  /** Netty's sockets on epoll: {@code io.netty:netty-transport-native-epoll}. */
  EPOLL,

  /**
   * Netty's sockets on io_uring: {@code io.netty:netty-transport-native-io_uring}. The kernel must
   * be new enough, and allow it: containers often forbid it by seccomp. Netty handles up to 128
   * rounds of its completions before the loop goes on, so that sockets which are never idle hold
   * RDMA on their loop up for longer than those of the other kinds do.
   */
  IO_URING;

  /** Returns whether this program can use them on this host. */
  public boolean isAvailable() {
    return unavailabilityCause() == null;
  }

  /** Returns why this program cannot use them on this host; null if it can. */
  public @Nullable Throwable unavailabilityCause() {
    try {
      return switch (this) {
        case NIO -> null;
        case EPOLL -> EpollSockets.unavailabilityCause();
        case IO_URING -> IoUringSockets.unavailabilityCause();
      };
    } catch (LinkageError e) {
      // Netty's classes are not there, or of a version that does not fit.
      return e;
    }
  }

  /**
   * Returns what makes such sockets.
   *
   * @throws SocketsUnavailableException if there are none
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
