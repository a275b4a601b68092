// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.verbena.RdmaOptions;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Puts an event loop on an HCA and its sockets, as {@link RdmaIoHandler} does; on its sockets alone
 * where this host has no such HCA. For {@link AutoSocketChannel} and {@link
 * AutoServerSocketChannel}, which do over TCP then what they would over RDMA.
 *
 * <pre>{@code
 * EventLoopGroup group = new MultiThreadIoEventLoopGroup(
 *     AutoIoHandler.newFactory(URI.create("disni://10.0.0.1")));
 * new ServerBootstrap().group(group).channel(AutoServerSocketChannel.class)...
 * new Bootstrap().group(group).channel(AutoSocketChannel.class)...
 * }</pre>
 *
 * <p>Each loop looks for the HCA once, as it is made: a program finds one that came later when it
 * starts again. A provider that is not on the class path is no HCA, either.
 */
public final class AutoIoHandler {
  private static final Logger LOG = System.getLogger("io.verbena.connection");

  private AutoIoHandler() {}

  /**
   * Event loops with sockets of NIO, and with an HCA if there is one.
   *
   * @param hca as {@link RdmaIoHandler#newFactory(URI)} takes it
   */
  public static IoHandlerFactory newFactory(URI hca) {
    return orSockets(hca, RdmaIoHandler.newFactory(hca), NioIoHandler.newFactory());
  }

  /**
   * Creates event loops on an HCA, with options.
   *
   * @param options as {@link RdmaIoHandler#newFactory(URI, RdmaOptions)} takes them
   */
  public static IoHandlerFactory newFactory(URI hca, RdmaOptions options) {
    return orSockets(hca, RdmaIoHandler.newFactory(hca, options), NioIoHandler.newFactory());
  }

  /**
   * Creates event loops on an HCA, with sockets of another kind than NIO's: epoll's, say.
   *
   * @param sockets makes the handler of each loop's sockets
   */
  public static IoHandlerFactory newFactory(
      URI hca, RdmaOptions options, IoHandlerFactory sockets) {
    return orSockets(hca, RdmaIoHandler.newFactory(hca, options, sockets), sockets);
  }

  private static IoHandlerFactory orSockets(
      URI hca, IoHandlerFactory rdma, IoHandlerFactory sockets) {
    requireNonNull(sockets, "sockets");
    AtomicBoolean told = new AtomicBoolean();
    return executor -> open(hca, rdma, sockets, executor, told);
  }

  private static IoHandler open(
      URI hca,
      IoHandlerFactory rdma,
      IoHandlerFactory sockets,
      ThreadAwareExecutor executor,
      AtomicBoolean told) {
    try {
      return rdma.newHandler(executor);
    } catch (VerbsException e) {
      if (e.error() != VerbsError.NO_DEVICE) {
        throw e;
      }
      if (!told.getAndSet(true)) {
        LOG.log(Level.INFO, () -> hca + ": all is over tcp, as " + e.getMessage());
      }
      return sockets.newHandler(executor);
    }
  }
}
