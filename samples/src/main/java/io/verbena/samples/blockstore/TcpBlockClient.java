// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import io.verbena.samples.tcp.TcpConnection;
import io.verbena.samples.tcp.TcpTransport;
import java.net.URI;
import java.util.List;
import reactor.core.publisher.Mono;

/** A client over TCP: like {@link RdmaBlockClient}, but blocks are streamed as messages. */
final class TcpBlockClient implements StreamingClient {
  /** Bytes in a message of a block that is read whole: the fastest of 32 KiB to 1 MiB. */
  static final int READ_LENGTH = 256 << 10;

  private final TcpConnection connection;
  private final Calls calls;

  private TcpBlockClient(TcpConnection connection, TcpTransport transport) {
    this.connection = connection;
    this.calls = new Calls(connection::send, connection.receive(), transport.allocator());
  }

  static Mono<TcpBlockClient> connect(TcpTransport transport, URI address) {
    return transport.connect(address).map(connection -> new TcpBlockClient(connection, transport));
  }

  @Override
  public Mono<List<BlockInfo>> list() {
    return calls.call(new Request.ListBlocks(), Reply.Listing.class).map(Reply.Listing::blocks);
  }

  @Override
  public Mono<BlockInfo> stat(String name) {
    return calls.call(new Request.StatBlock(name), Reply.Status.class).map(Reply.Status::block);
  }

  /** Requests the block as a stream, and copies each message to its place. */
  @Override
  public Mono<Void> read(String name, ByteBuf into) {
    return stream(name, READ_LENGTH).flatMap(stream -> stream.copyInto(into));
  }

  @Override
  public Mono<BlockStream> stream(String name, int messageLength) {
    return calls.stream(name, messageLength);
  }

  @Override
  public Mono<Void> close() {
    return connection.close();
  }
}
