// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory.Right;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/**
 * The leases by which clients may read blocks for a while. Each lease has a separate region, so
 * that its end does not affect others. Thread-safe.
 */
final class Leases {
  private final RdmaMemory memory;

  Leases(RdmaMemory memory) {
    this.memory = memory;
  }

  /**
   * Returns a lease, which begins with the subscription and ends when that is cancelled: its token
   * then becomes invalid.
   *
   * @return emits the token, and never completes; errors if the registration finds no memory
   */
  Flux<Reply> lease(Block block) {
    return Flux.using(
            () -> memory.register(block.content().nioBuffer(), Set.of(Right.READ)),
            region -> Flux.<Reply>never().startWith(new Reply.Location(region.token())),
            RdmaMemory.Region::close)
        // Registration takes long.
        .subscribeOn(Schedulers.boundedElastic());
  }
}
