// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Answers with tokens. Registers and clears memory off the loop, as both take long. */
final class RdmaOneSided implements OneSided {
  private final Exports exports;
  private final Uploads uploads;

  RdmaOneSided(Exports exports, Uploads uploads) {
    this.exports = exports;
    this.uploads = uploads;
  }

  @Override
  public Mono<Reply> locate(Block block) {
    return Mono.<Reply>fromCallable(() -> new Reply.Location(exports.locate(block)))
        .subscribeOn(Schedulers.boundedElastic());
  }

  @Override
  public Mono<Reply> locateTickets() {
    return Mono.<Reply>fromCallable(() -> new Reply.Location(exports.tickets()))
        .subscribeOn(Schedulers.boundedElastic());
  }

  @Override
  public Mono<Reply> reserve(BlockInfo block) {
    return Mono.<Reply>fromCallable(() -> uploads.reserve(block))
        .subscribeOn(Schedulers.boundedElastic());
  }
}
