// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.verbena.RdmaConnection.Immediate;
import io.verbena.simulation.scenario.Violation;
import reactor.core.publisher.BaseSubscriber;

/**
 * Subscribes to the immediates of WRITEs by the peer and checks that each arrives once and in
 * order.
 */
final class ImmediateSubscriber extends BaseSubscriber<Immediate> {
  private final ConnectionEnd end;
  private boolean ended;

  ImmediateSubscriber(ConnectionEnd end) {
    this.end = end;
  }

  @Override
  protected void hookOnNext(Immediate immediate) {
    end.verify(
        () -> {
          Violation.require(!ended, "immediates: one after the end", immediate);
          end.peer().remoteMemory().onImmediate(immediate);
        });
  }

  @Override
  protected void hookOnComplete() {
    ended = true;
    end.onReceiveEnd();
  }

  @Override
  protected void hookOnError(Throwable error) {
    ended = true;
    end.failed("immediates", error, false);
  }
}
