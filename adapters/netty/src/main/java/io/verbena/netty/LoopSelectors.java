// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;

/**
 * Opens the selector of one loop, and wakes the loop there. Netty's {@code NioIoHandler.wakeup()}
 * also makes the next select return at once, as it does not know whether the loop has seen the
 * cause; a loop that looks before it sleeps needs none of that. {@link #wakeup} may be called by
 * any thread.
 */
final class LoopSelectors extends SelectorProvider {
  private final SelectorProvider provider = SelectorProvider.provider();

  /** The last one: the handler exchanges one that fails. */
  private volatile @Nullable Selector opened;

  void wakeup() {
    Selector selector = opened;
    if (selector != null) {
      selector.wakeup();
    }
  }

  @Override
  public AbstractSelector openSelector() throws IOException {
    AbstractSelector selector = provider.openSelector();
    opened = selector;
    return selector;
  }

  @Override
  public DatagramChannel openDatagramChannel() throws IOException {
    return provider.openDatagramChannel();
  }

  @Override
  public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
    return provider.openDatagramChannel(family);
  }

  @Override
  public Pipe openPipe() throws IOException {
    return provider.openPipe();
  }

  @Override
  public ServerSocketChannel openServerSocketChannel() throws IOException {
    return provider.openServerSocketChannel();
  }

  @Override
  public SocketChannel openSocketChannel() throws IOException {
    return provider.openSocketChannel();
  }
}
