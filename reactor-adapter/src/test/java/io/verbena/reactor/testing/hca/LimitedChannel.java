// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.testing.hca;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import org.jspecify.annotations.Nullable;

/** A completion channel that returns limited queues. */
record LimitedChannel(CompletionChannel inner, LimitedDevice device) implements CompletionChannel {
  @Override
  public @Nullable CompletionQueue await(long timeoutNanos) throws InterruptedException {
    return device.queue(inner.await(timeoutNanos));
  }

  @Override
  public void wakeup() {
    inner.wakeup();
  }

  @Override
  public void close() {
    device.close(inner, inner::close);
  }
}
