// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.netty.buffer.ByteBuf;
import io.verbena.RemoteMemory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;

/** A long read in pieces. */
final class PieceFlux extends Flux<ByteBuf> {
  private final OneSidedOperations oneSided;
  private final RemoteMemory from;
  private final int pieceLength;

  PieceFlux(OneSidedOperations oneSided, RemoteMemory from, int pieceLength) {
    this.oneSided = oneSided;
    this.from = from;
    this.pieceLength = pieceLength;
  }

  @Override
  public void subscribe(CoreSubscriber<? super ByteBuf> actual) {
    new PieceSubscription(actual, oneSided, from, pieceLength).start();
  }
}
