// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A completion channel that returns the wrappers of completion queues. */
final class SanitizedChannel implements CompletionChannel {
  private final CompletionChannel channel;
  private final TrackedObject tracked;
  private final ConcurrentHashMap<CompletionQueue, SanitizedCompletionQueue> queues =
      new ConcurrentHashMap<>();

  SanitizedChannel(SanitizedDevice device, CompletionChannel channel, CallSite place) {
    this.channel = channel;
    tracked = TrackedObject.of(this, device.watched(), "completion channel", place);
  }

  CompletionChannel channel() {
    return channel;
  }

  void add(SanitizedCompletionQueue queue) {
    queues.put(queue.queue(), queue);
  }

  void remove(SanitizedCompletionQueue queue) {
    queues.remove(queue.queue());
  }

  @Override
  public @Nullable CompletionQueue await(long timeoutNanos) throws InterruptedException {
    CompletionQueue queue = channel.await(timeoutNanos);
    if (queue == null) {
      return null;
    }
    SanitizedCompletionQueue wrapper = queues.get(queue);
    return wrapper == null ? queue : wrapper;
  }

  @Override
  public boolean listen(Runnable listener) {
    return channel.listen(listener);
  }

  @Override
  public void wakeup() {
    channel.wakeup();
  }

  @Override
  public void close() {
    channel.close();
    tracked.closed();
  }
}
