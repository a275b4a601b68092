// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.Device;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Collects send requests and posts them as linked lists, for devices with {@linkplain
 * Device#hasCostlyPosts costly posts}: one call posts a list. A list belongs to one queue pair. It
 * is posted when it is full, when another queue pair begins a list, and by {@link #post}. A member
 * that causes another member's list to be posted gets none of its exceptions. Receives are posted
 * before a list that may give the peer credits for them. One object for each loop; only on the
 * loop's thread.
 */
public final class LinkedPosts {
  /** The most requests in a list: as many as {@code disni://} passes on in one call. */
  private static final int MOST = 16;

  private static final int MOST_BUFFERS = 2;

  private final SendWorkRequest[] requests = new SendWorkRequest[MOST];
  private int count;
  private @Nullable QueuePair pair;
  private @Nullable Poster poster;

  /** Posts the waiting receives of the loop at the end of a duty cycle. */
  private Runnable receives = () -> {};

  /** The owner of collected requests. */
  public interface Poster {
    /**
     * Called before a list of this poster is posted: posts the receives that the list may give the
     * peer credits for. Must not throw; may itself cause the list to be posted.
     */
    void postReceives();

    /**
     * Called when the device has refused a request of a list, and so all behind it. Must not post.
     *
     * @param sequence the {@linkplain WorkRequestId#sequence sequence} of the first refused request
     * @param why the exception of the post
     * @return whether {@link #next} or {@link #post} also throws the exception, if this poster has
     *     called it
     */
    boolean refused(int sequence, Throwable why);
  }

  private LinkedPosts() {
    for (int i = 0; i < MOST; i++) {
      requests[i] = new SendWorkRequest(MOST_BUFFERS);
    }
  }

  /** Returns an object for a loop of this device; null if posts of the device are not costly. */
  public static @Nullable LinkedPosts of(Device device) {
    return device.hasCostlyPosts() ? new LinkedPosts() : null;
  }

  /**
   * Sets the action that {@link #post()} runs first, whichever member sends.
   *
   * @param all posts the waiting receives of the loop, if any; must not throw
   */
  public void beginWith(Runnable all) {
    receives = all;
  }

  /** Returns the request that {@link #add} adds next, to fill. */
  public SendWorkRequest next(Poster its) {
    // A connection that learns of a refused receive may begin a list after this one was posted.
    while (poster != null && (poster != its || count == MOST)) {
      post(poster, poster == its);
    }
    return requests[count];
  }

  /** Adds the request that {@link #next} has returned last, now filled, including its id. */
  public void add(QueuePair to, Poster its) {
    pair = to;
    poster = its;
    count++;
  }

  /** Posts the waiting receives of the loop, then the collected requests. */
  public void post() {
    receives.run();
    post(poster, false);
  }

  /** Posts the collected requests of a poster, if there are any. */
  public void post(Poster its) {
    if (poster == its) {
      post(its, true);
    }
  }

  private void post(@Nullable Poster its, boolean forItself) {
    if (its == null) {
      return;
    }
    its.postReceives();
    QueuePair to = pair;
    if (to == null || poster != its) {
      // postReceives() has caused the list to be posted already.
      return;
    }
    int last = count - 1;
    count = 0;
    pair = null;
    poster = null;
    for (int i = 0; i < last; i++) {
      requests[i].next(requests[i + 1]);
    }
    requests[last].next(null);
    try {
      to.postSend(requests[0]);
    } catch (RuntimeException | Error e) {
      if (its.refused(WorkRequestId.sequence(refused(last, e)), e) && forItself) {
        throw e;
      }
    }
  }

  /**
   * Returns the id of the first refused request: the first of the list, unless the provider names
   * another.
   */
  private long refused(int last, Throwable why) {
    if (why instanceof PostException inList) {
      for (int i = 0; i <= last; i++) {
        if (requests[i].id() == inList.workRequestId()) {
          return inList.workRequestId();
        }
      }
    }
    return requests[0].id();
  }
}
