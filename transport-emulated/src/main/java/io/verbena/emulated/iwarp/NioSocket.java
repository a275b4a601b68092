// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** A socket channel of the JDK, and its key in a selector. */
final class NioSocket implements StreamSocket {
  private final SocketChannel channel;
  private final Runnable wake;
  private @Nullable SelectionKey key;
  private boolean resetsAtClose;

  /**
   * Creates a socket that is not registered with a selector yet.
   *
   * @param wake wakes the driver, if the driver sleeps
   */
  NioSocket(SocketChannel channel, Runnable wake) {
    this.channel = channel;
    this.wake = wake;
  }

  void register(SocketSelector selector, SocketSelector.Selected listener) throws IOException {
    key = selector.register(channel, 0, listener);
  }

  @Override
  public ScatteringByteChannel input() {
    return channel;
  }

  @Override
  public GatheringByteChannel output() {
    return channel;
  }

  @Override
  public boolean finishConnect() throws IOException {
    return channel.finishConnect();
  }

  @Override
  public void interest(int operations) {
    SelectionKey ours = key;
    if (ours != null && ours.isValid() && ours.interestOps() != operations) {
      ours.interestOps(operations);
      wake.run();
    }
  }

  @Override
  public void shutdownOutput() throws IOException {
    channel.shutdownOutput();
  }

  @Override
  public InetSocketAddress local() {
    return (InetSocketAddress) channel.socket().getLocalSocketAddress();
  }

  @Override
  public InetSocketAddress remote() {
    return (InetSocketAddress) channel.socket().getRemoteSocketAddress();
  }

  @Override
  public void resetAtClose() {
    resetsAtClose = true;
  }

  @Override
  public void close() throws IOException {
    try {
      if (resetsAtClose) {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
    } finally {
      channel.close();
    }
  }
}
