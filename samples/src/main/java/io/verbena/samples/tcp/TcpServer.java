// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.tcp;

import io.netty.channel.Channel;
import java.net.URI;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A bound socket. Disposing it stops listening; its connections stay open. */
public final class TcpServer implements Disposable {
  private final Channel channel;
  private final URI address;

  TcpServer(Channel channel, URI address) {
    this.channel = channel;
    this.address = address;
  }

  /** The address to connect to. */
  public URI address() {
    return address;
  }

  /** Completes when the server no longer listens. */
  public Mono<Void> onClose() {
    return Mono.create(sink -> channel.closeFuture().addListener(closed -> sink.success()));
  }

  @Override
  public void dispose() {
    TcpTransport.close(channel);
  }
}
