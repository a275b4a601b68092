// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.testing.hca;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

/** A completion queue that is empty to polls while completions are held, and may throw. */
record LimitedQueue(
    CompletionQueue inner, @Nullable CompletionChannel channel, LimitedDevice device)
    implements CompletionQueue {
  @Override
  public int depth() {
    return inner.depth();
  }

  @Override
  public int poll(WorkCompletion[] completions) {
    LimitedProvider.throwHere();
    return LimitedProvider.holdsBack() ? 0 : inner.poll(completions);
  }

  @Override
  public void arm(boolean solicitedOnly) {
    inner.arm(solicitedOnly);
  }

  @Override
  public void acknowledgeEvents(int count) {
    inner.acknowledgeEvents(count);
  }

  @Override
  public void resize(int depth) {
    inner.resize(depth);
  }

  @Override
  public void close() {
    device.close(inner, inner::close);
  }
}
