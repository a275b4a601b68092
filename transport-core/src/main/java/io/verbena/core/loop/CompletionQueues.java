// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.meters.HcaMeter;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The completion queues of one thread. Each member reserves a part of a queue's depth, so that no
 * queue overruns; the id of a work request names the member. If the device can resize a queue,
 * there is one, which grows as members join. Otherwise, or beyond the device's limit, further
 * queues are added, each twice as deep as the one before. Not thread-safe.
 *
 * @param <M> the members, whose work requests complete there
 */
public final class CompletionQueues<M extends CompletionTarget> {
  private static final int BATCH = 64;
  private static final int LEAST_DEPTH = 4096;

  private final Device device;
  private final @Nullable CompletionChannel channel;
  private final HcaMeter meter;
  private final Members<M> members = new Members<>();
  private final List<SharedCompletionQueue> queues = new ArrayList<>();
  private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
  private @Nullable CloseSteps closing;

  /**
   * @param channel wakes the thread if a queue has completions; null if the thread never sleeps
   * @param meter counts entries and polls
   */
  public CompletionQueues(Device device, @Nullable CompletionChannel channel, HcaMeter meter) {
    this.device = device;
    this.channel = channel;
    this.meter = meter;
  }

  /**
   * Adds a member.
   *
   * @param completions the most completions that the member has outstanding at once
   * @throws io.verbena.verbs.VerbsException if the device has no completion queue left for them
   */
  public Membership join(M member, int completions) {
    SharedCompletionQueue chosen = reserve(completions);
    long prefix;
    try {
      prefix = members.add(member, chosen, completions);
    } catch (Throwable e) {
      chosen.giveBack(completions);
      throw e;
    }
    meter.completionsReserved(completions);
    return new Membership(chosen.queue, prefix);
  }

  private SharedCompletionQueue reserve(int completions) {
    for (int i = 0; i < queues.size(); i++) {
      SharedCompletionQueue candidate = queues.get(i);
      if (candidate.reserve(completions)) {
        return candidate;
      }
    }
    int most = device.attributes().maxCompletions();
    int depth = LEAST_DEPTH;
    if (!queues.isEmpty()) {
      SharedCompletionQueue last = queues.get(queues.size() - 1);
      depth = 2 * Math.min(1 << 29, last.queue.depth());
      if (last.fits(completions, Math.min(most, depth)) && resize(last, Math.min(most, depth))) {
        last.reserve(completions);
        return last;
      }
    }
    depth = Math.max(completions, Math.min(most, depth));
    SharedCompletionQueue added = add(device.createCompletionQueue(depth, channel, true));
    added.reserve(completions);
    meter.completionQueues(added.queue.depth());
    return added;
  }

  /**
   * Resizes a queue; returns false if the device cannot, or has no memory for it: then another
   * queue is needed.
   */
  private boolean resize(SharedCompletionQueue shared, int depth) {
    int before = shared.queue.depth();
    if (!device.attributes().supports(Capability.COMPLETION_QUEUE_RESIZE)) {
      return false;
    }
    try {
      shared.queue.resize(depth);
    } catch (VerbsException e) {
      if (e.error() != VerbsError.NO_MEMORY) {
        throw e;
      }
      return false;
    }
    meter.completionQueues(shared.queue.depth() - before);
    return true;
  }

  private SharedCompletionQueue add(CompletionQueue made) {
    try {
      SharedCompletionQueue shared = new SharedCompletionQueue(made);
      queues.add(shared);
      return shared;
    } catch (Throwable e) {
      // Out of memory: no other object would close the queue.
      made.close();
      throw e;
    }
  }

  /** Removes a member, none of whose work requests may be outstanding. */
  public void leave(Membership membership) {
    meter.completionsReserved(-members.remove(membership.prefix()));
  }

  /** Returns the number of members. */
  public int count() {
    return members.count();
  }

  /** Returns one more than the highest index of a member. */
  public int bound() {
    return members.bound();
  }

  /** Returns the member of this index, or null. */
  public @Nullable M at(int index) {
    return members.at(index);
  }

  /**
   * Calls {@code visitor} with the members that the calling thread can see; may be called by any
   * thread.
   */
  void forEach(Consumer<? super M> visitor) {
    members.forEach(visitor);
  }

  /**
   * Polls a batch of completions from each queue and passes them to their members.
   *
   * @return the number of completions
   */
  public int poll() {
    int taken = 0;
    // Members may join, and so add queues, while completions are passed on.
    for (int q = 0; q < queues.size(); q++) {
      int count = queues.get(q).queue.poll(batch);
      if (count > 0) {
        meter.polled(count);
      }
      for (int i = 0; i < count; i++) {
        WorkCompletion completion = batch[i];
        M member = members.find(completion.workRequestId());
        if (member != null) {
          member.completed(completion);
        }
      }
      taken += count;
    }
    return taken;
  }

  /** Arms each queue that is not armed; the caller polls once more before it sleeps. */
  public void arm() {
    for (int i = 0; i < queues.size(); i++) {
      SharedCompletionQueue queue = queues.get(i);
      if (!queue.armed) {
        queue.armed = true;
        queue.queue.arm(false);
      }
    }
  }

  /** Acknowledges an event of this queue that was taken from the channel. */
  public void woken(CompletionQueue queue) {
    queue.acknowledgeEvents(1);
    for (int i = 0; i < queues.size(); i++) {
      if (queues.get(i).queue == queue) {
        queues.get(i).armed = false;
      }
    }
  }

  /**
   * Takes all events of the channel, and acknowledges them.
   *
   * @return whether there were any
   */
  public boolean takeEvents() {
    CompletionChannel channel = this.channel;
    if (channel == null) {
      return false;
    }
    boolean any = false;
    // A wakeup that no thread has taken yet makes await() return null once, ahead of events.
    for (int nulls = 0; nulls < 2; ) {
      CompletionQueue queue = look(channel);
      if (queue == null) {
        nulls++;
      } else {
        woken(queue);
        any = true;
      }
    }
    return any;
  }

  /**
   * Closes the queues and then their channel; a further call closes those that could not be closed.
   *
   * @throws io.verbena.verbs.VerbsException if one is left, because queue pairs still use it
   */
  public void close() {
    CloseSteps steps = closing;
    if (steps == null) {
      steps = closeSteps();
      closing = steps;
    }
    steps.run();
  }

  private CloseSteps closeSteps() {
    CompletionChannel channel = this.channel;
    boolean unused = takeEvents();
    CloseSteps steps = new CloseSteps();
    for (SharedCompletionQueue queue : queues) {
      steps.add("completion queue", () -> close(queue.queue));
    }
    if (channel != null) {
      steps.add("completion channel", channel::close);
    }
    return steps;
  }

  private void close(CompletionQueue queue) {
    int depth = queue.depth();
    queue.close();
    meter.completionQueues(-depth);
  }

  private static @Nullable CompletionQueue look(CompletionChannel channel) {
    try {
      return channel.await(0);
    } catch (InterruptedException e) {
      return null;
    }
  }
}
