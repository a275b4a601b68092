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
 * Creates the handlers of event loops on an HCA and sockets, those of {@link RdmaIoHandler}; on
 * sockets only, if this host has no such HCA. For {@link AutoSocketChannel} and {@link
 * AutoServerSocketChannel}, which then use TCP instead of RDMA.
 *
 * <pre>{@code
 * EventLoopGroup group = new MultiThreadIoEventLoopGroup(
 *     AutoIoHandler.newFactory(URI.create("disni://10.0.0.1")));
 * new ServerBootstrap().group(group).channel(AutoServerSocketChannel.class)...
 * new Bootstrap().group(group).channel(AutoSocketChannel.class)...
 * }</pre>
 *
 * <p>Each loop looks for the HCA once, when it is created: a program finds an HCA that was added
 * later only after a restart. A provider that is not on the class path counts as no HCA.
 */
public final class AutoIoHandler {
  private static final Logger LOG = System.getLogger("io.verbena.connection");

  private AutoIoHandler() {}

  /**
   * Returns a factory of event loops with sockets of NIO, and with an HCA if there is one.
   *
   * @param hca the URI of the HCA, as for {@link RdmaIoHandler#newFactory(URI)}
   */
  public static IoHandlerFactory newFactory(URI hca) {
    return orSockets(hca, RdmaIoHandler.newFactory(hca), NioIoHandler.newFactory());
  }

  /**
   * Like {@link #newFactory(URI)}, with options.
   *
   * @param options the options, as for {@link RdmaIoHandler#newFactory(URI, RdmaOptions)}
   */
  public static IoHandlerFactory newFactory(URI hca, RdmaOptions options) {
    return orSockets(hca, RdmaIoHandler.newFactory(hca, options), NioIoHandler.newFactory());
  }

  /**
   * Like {@link #newFactory(URI, RdmaOptions)}, with sockets of another kind than NIO: epoll, for
   * example.
   *
   * @param sockets creates the handler of a loop's sockets
   */
  public static IoHandlerFactory newFactory(
      URI hca, RdmaOptions options, IoHandlerFactory sockets) {
    return orSockets(hca, RdmaIoHandler.newFactory(hca, options, sockets), sockets);
  }

  private static IoHandlerFactory orSockets(
      URI hca, IoHandlerFactory rdma, IoHandlerFactory sockets) {
    requireNonNull(sockets, "sockets");
    AtomicBoolean logged = new AtomicBoolean();
    return executor -> open(hca, rdma, sockets, executor, logged);
  }

  private static IoHandler open(
      URI hca,
      IoHandlerFactory rdma,
      IoHandlerFactory sockets,
      ThreadAwareExecutor executor,
      AtomicBoolean logged) {
    try {
      return rdma.newHandler(executor);
    } catch (VerbsException e) {
      if (e.error() != VerbsError.NO_DEVICE) {
        throw e;
      }
      if (!logged.getAndSet(true)) {
        LOG.log(Level.INFO, () -> hca + ": connections use TCP only: " + e.getMessage());
      }
      return sockets.newHandler(executor);
    }
  }
}
