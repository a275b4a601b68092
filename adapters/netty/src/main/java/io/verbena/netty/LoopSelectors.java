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
 * Opens the selector of one loop, and wakes the loop from its select. Netty's {@code
 * NioIoHandler.wakeup()} also makes the next select return at once, because it does not know
 * whether the loop has seen the cause; a loop that looks for work before it sleeps does not need
 * that. Any thread may call {@link #wakeup}.
 */
final class LoopSelectors extends SelectorProvider {
  private final SelectorProvider provider = SelectorProvider.provider();

  /** The latest selector; the handler replaces one that fails. */
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
