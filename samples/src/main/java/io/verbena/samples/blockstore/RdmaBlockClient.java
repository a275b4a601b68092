// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.RdmaTransport;
import io.verbena.RemoteMemory;
import java.net.URI;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A client over RDMA. It reads and writes blocks one-sided, with the server's token. */
final class RdmaBlockClient implements StreamingClient {
  /** Bytes of a block that are written at a time. */
  static final int WRITE_LENGTH = 8 << 20;

  private final RdmaConnection connection;
  private final Calls calls;

  private RdmaBlockClient(RdmaConnection connection) {
    this.connection = connection;
    this.calls = new Calls(connection::send, connection.receive(), connection.memory().allocator());
  }

  static Mono<RdmaBlockClient> connect(RdmaTransport transport, URI address) {
    return transport.connect(address).map(RdmaBlockClient::new);
  }

  @Override
  public Mono<List<BlockInfo>> list() {
    return calls.call(new Request.ListBlocks(), Reply.Listing.class).map(Reply.Listing::blocks);
  }

  @Override
  public Mono<BlockInfo> stat(String name) {
    return calls.call(new Request.StatBlock(name), Reply.Status.class).map(Reply.Status::block);
  }

  /** Requests the block's token, and reads the server's memory. */
  @Override
  public Mono<Void> read(String name, ByteBuf into) {
    return calls
        .call(new Request.LocateBlock(name), Reply.Location.class)
        .flatMap(location -> connection.read(location.memory(), into));
  }

  @Override
  public Mono<BlockStream> stream(String name, int messageLength) {
    return calls.stream(name, messageLength);
  }

  /** Asks for memory for a new block. */
  Mono<Reply.Reservation> reserve(BlockInfo block) {
    return calls.call(new Request.ReserveBlock(block), Reply.Reservation.class);
  }

  /**
   * Writes a block into the server's memory and notifies it; the server's reply to that is {@link
   * #stored}.
   *
   * @param content the bytes, which stay the caller's
   */
  Mono<Void> write(ByteBuf content, Reply.Reservation reservation) {
    int length = content.readableBytes();
    int pieces = Math.max(1, (length + WRITE_LENGTH - 1) / WRITE_LENGTH);
    return Flux.range(0, pieces)
        .concatMap(
            piece -> {
              int offset = piece * WRITE_LENGTH;
              int size = Math.min(WRITE_LENGTH, length - offset);
              RemoteMemory to = reservation.memory().slice(offset, size);
              ByteBuf data = content.retainedSlice(content.readerIndex() + offset, size);
              return piece < pieces - 1
                  ? connection.write(data, to)
                  : connection.writeWithImmediate(data, to, reservation.number());
            })
        .then();
  }

  /** Waits until the server has checked the digest, and returns what it stored. */
  Mono<BlockInfo> stored() {
    return calls.reply(Reply.Stored.class).map(Reply.Stored::block);
  }

  /** Asks for the memory of the ticket counter. */
  Mono<RemoteMemory> tickets() {
    return calls
        .call(new Request.LocateTickets(), Reply.Location.class)
        .map(Reply.Location::memory);
  }

  /** Adds to the ticket counter; returns its previous number. */
  Mono<Long> draw(RemoteMemory tickets, long count) {
    return connection.fetchAndAdd(tickets, count);
  }

  @Override
  public Mono<Void> close() {
    return connection.close();
  }
}
