// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory.Right;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/**
 * The leases by which clients may read blocks for a while. Each lease has a region of its own, so
 * that its end takes nothing from others. Thread-safe.
 */
final class Leases {
  private final RdmaMemory memory;

  Leases(RdmaMemory memory) {
    this.memory = memory;
  }

  /**
   * A lease, which begins with the subscription and ends when that is cancelled: its token is dead
   * then.
   *
   * @return where to read, and then nothing more; errors if there is no memory to register it
   */
  Flux<Reply> lease(Block block) {
    return Flux.using(
            () -> memory.register(block.content().nioBuffer(), Set.of(Right.READ)),
            region -> Flux.<Reply>never().startWith(new Reply.Location(region.token())),
            RdmaMemory.Region::close)
        // Registering takes long.
        .subscribeOn(Schedulers.boundedElastic());
  }
}
