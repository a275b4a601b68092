package io.verbena.reactor.connection;

import io.netty.buffer.ByteBuf;
import io.verbena.RemoteMemory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;

/** A long read in pieces. */
final class PieceFlux extends Flux<ByteBuf> {
  private final Connection connection;
  private final RemoteMemory from;
  private final int pieceLength;

  PieceFlux(Connection connection, RemoteMemory from, int pieceLength) {
    this.connection = connection;
    this.from = from;
    this.pieceLength = pieceLength;
  }

  @Override
  public void subscribe(CoreSubscriber<? super ByteBuf> actual) {
    new PieceSubscription(actual, connection, from, pieceLength).start();
  }
}
