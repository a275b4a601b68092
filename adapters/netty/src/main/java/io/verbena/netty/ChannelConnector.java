// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ServerSocketChannel;
import io.verbena.core.cm.ProgramPrivateData;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Connects a channel, or accepts its connect request, and handles the connection manager's events
 * up to the end of the connection. On the event loop's thread only, except for {@link #event}.
 */
final class ChannelConnector implements ConnectionSetup.Owner {
  private final RdmaSocketChannel channel;
  private final RdmaSocketChannelConfig config;
  private final @Nullable PendingAccept pending;
  private @Nullable ConnectionSetup setup;
  private @Nullable InetSocketAddress connectingTo;

  /**
   * @param pending the connect request to accept; null for a client channel
   */
  ChannelConnector(
      RdmaSocketChannel channel, RdmaSocketChannelConfig config, @Nullable PendingAccept pending) {
    this.channel = channel;
    this.config = config;
    this.pending = pending;
  }

  /** Returns an address to bind, if it is one of the loop's HCA. */
  static InetSocketAddress checkBindAddress(SocketAddress address, @Nullable RdmaIoHandler on)
      throws BindException {
    if (!(address instanceof InetSocketAddress socket) || on == null) {
      throw new UnsupportedAddressTypeException();
    }
    return on.hca().checkOwn(socket);
  }

  /**
   * Called when the channel is registered with a loop: accepts the connect request, if there is
   * one.
   *
   * @param promise of the registration; for a connect request it completes once the connection is
   *     established
   */
  void registered(RdmaIoHandler on, ChannelPromise promise) {
    if (pending == null) {
      promise.setSuccess();
    } else if (pending.hca() != on.hca()) {
      IOException refusal =
          new IOException(
              "cannot accept "
                  + pending.event().identifier().peer()
                  + ": the event loop of the channel is on another HCA than its server's"
                  + " (expected: one address and equal options for both groups)");
      on.hca().meter().failed("accept", null, refusal);
      promise.setFailure(refusal);
    } else if (channel.isOpen()) {
      ConnectionSetup begun =
          new ConnectionSetup(on, this, promise, config.getConnectTimeoutMillis(), pending.event());
      setup = begun;
      begun.accept();
    } else {
      promise.setFailure(new ClosedChannelException());
    }
  }

  /**
   * Begins a connect.
   *
   * @param from the local address; null for any
   * @throws VerbsException if the device cannot begin the connect
   */
  void connect(SocketAddress to, @Nullable SocketAddress from, ChannelPromise promise)
      throws ConnectException, BindException {
    RdmaIoHandler on = channel.handler();
    if (setup != null) {
      throw new ConnectionPendingException();
    }
    if (channel.isActive()) {
      throw new AlreadyConnectedException();
    }
    if (!(to instanceof InetSocketAddress socket) || on == null) {
      throw new UnsupportedAddressTypeException();
    }
    String refusal = ProgramPrivateData.refuse(config.privateData());
    if (refusal != null) {
      throw new ConnectException(refusal);
    }
    int port = from == null ? 0 : checkBindAddress(from, on).getPort();
    setup = new ConnectionSetup(on, this, promise, config.setupMillis(), socket, port);
    connectingTo = socket;
    promise.addListener(
        done -> {
          if (done.isCancelled()) {
            channel.closeQuietly();
          }
        });
  }

  /** Returns whether a connect or an accept is under way. */
  boolean isUnderWay() {
    return setup != null;
  }

  /** Ends a connect or accept that is under way, because the channel is closed. */
  void close() {
    ConnectionSetup begun = setup;
    if (begun != null) {
      begun.close();
    } else if (pending != null) {
      pending.drop();
    }
  }

  @Override
  public void atClose(Runnable step) {
    channel.atClose(step);
  }

  @Override
  public ByteBuffer privateData() {
    return config.privateData();
  }

  @Override
  public boolean isWanted() {
    ServerSocketChannel listening = channel.parent();
    return listening == null || listening.isOpen();
  }

  @Override
  public Stream.Owner streamOwner() {
    return channel.streamOwner();
  }

  @Override
  public void established(Stream made, @Nullable InetSocketAddress own, ChannelPromise promise) {
    setup = null;
    channel.connected(made, own, connectingTo);
    if (pending != null) {
      promise.setSuccess();
      return;
    }
    // A listener may close the channel, which was active all the same.
    boolean connected = promise.trySuccess();
    channel.pipeline().fireChannelActive();
    if (!connected) {
      channel.closeQuietly();
    }
  }

  @Override
  public void failed() {
    channel.closeQuietly();
  }

  /** Called on the dispatcher's thread. */
  @Override
  public void event(ConnectionEvent event) {
    if (channel.handler() == null) {
      // Before the accept only a disconnect of the client can come, and the accept fails then.
      return;
    }
    Stream at = channel.stream();
    if (at != null && event.type() == ConnectionEvent.Type.DISCONNECTED) {
      at.disconnecting();
    }
    try {
      channel.eventLoop().execute(() -> step(event));
    } catch (RejectedExecutionException e) {
      // The loop has ended, and with it all its connections.
      return;
    }
  }

  /** Handles an event of the connection manager, on the loop. */
  private void step(ConnectionEvent event) {
    Stream at = channel.stream();
    ConnectionSetup begun = setup;
    if (at == null) {
      if (begun != null) {
        begun.handle(event);
      }
    } else if (event.type() == ConnectionEvent.Type.DISCONNECTED) {
      at.disconnected();
    } else if (event.type() == ConnectionEvent.Type.DEVICE_REMOVAL) {
      at.deviceRemoved();
    }
  }
}
