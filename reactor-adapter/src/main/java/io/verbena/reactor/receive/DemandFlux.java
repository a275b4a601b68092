// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.verbena.core.loop.CompletionLoop;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;

/**
 * The values that the peer sends, for one subscriber at a time.
 *
 * @param <T> the type of the values
 */
final class DemandFlux<T> extends Flux<T> {
  private final DemandQueue<T> source;
  private final CompletionLoop loop;

  DemandFlux(DemandQueue<T> source, CompletionLoop loop) {
    this.source = source;
    this.loop = loop;
  }

  @Override
  public void subscribe(CoreSubscriber<? super T> actual) {
    new DemandSubscription<>(actual, source, loop).start();
  }
}
