// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

import io.verbena.RdmaException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Shares the peer's message credits among the sends. A credit goes this way:
 *
 * <pre>{@code
 * free --given to a send--> reserved --message waits for a place---> waiting
 *   ^                        |    |                                    |
 *   +------given back--------+    +------------placed------------------+--> used
 * }</pre>
 *
 * Free credits are given to the sends in turns; each send requests as many messages. {@link
 * #waiting} has one entry for each waiting message, in the order of arrival. Only on the loop.
 *
 * @param <S> the type of the sends
 */
public final class CreditShares<S extends CreditUser> {
  /**
   * The most long messages to request at once: about as many as the peer READs while one is filled.
   */
  public static final int MOST_LONG_AT_ONCE = 4;

  /** The most messages to request before frames take them, so that their memory stays in caches. */
  private static final int MOST_AT_ONCE = 64;

  private final SendCredits credits;
  private final ArrayList<S> active = new ArrayList<>();
  private final ArrayDeque<S> waiting = new ArrayDeque<>();
  private int atOnce = MOST_AT_ONCE;
  private int reserved;
  private int cursor;
  private boolean undistributed;
  private boolean distributing;
  private boolean halted;

  /**
   * @param window the peer's first grant
   */
  public CreditShares(int window) {
    credits = new SendCredits("messages", window, window);
  }

  // ---- credits

  /** Takes the peer's newest grant, a total; it is shared at the end of the duty cycle. */
  public void granted(int limit) {
    int before = credits.left();
    credits.raise(limit);
    undistributed |= credits.left() != before;
  }

  /** Uses up the credit of a message that was placed. */
  public void use() {
    credits.use();
  }

  /** Takes back credits that a send was given and will not use. */
  public void giveBack(int count) {
    reserved -= count;
  }

  /** Returns the number of credits that no message has used. */
  public int left() {
    return credits.left();
  }

  private int free() {
    return credits.left() - waiting.size() - reserved;
  }

  // ---- sends

  /** Adds a send. */
  public void start(S send) {
    active.add(send);
  }

  /** Returns how many sends there are. */
  public int count() {
    return active.size();
  }

  /**
   * Removes a send that is over.
   *
   * @param held how many of its messages wait
   */
  public void end(S send, int held) {
    active.remove(send);
    if (held > 0) {
      waiting.removeIf(send::equals);
    }
    if (!active.isEmpty()) {
      distribute();
    }
  }

  /** Shares the free credits among all sends that can use them. */
  public void distribute() {
    if (distributing || halted) {
      return;
    }
    distributing = true;
    try {
      int share = Math.max(1, Math.min(atOnce, free() / Math.max(1, active.size())));
      int idle = 0;
      while (free() > 0 && waiting.isEmpty() && idle < active.size()) {
        cursor = cursor < active.size() ? cursor : 0;
        S next = active.get(cursor++);
        if (next.wants()) {
          idle = 0;
          int count = Math.min(share, free());
          reserved += count;
          next.ask(count);
        } else {
          idle++;
        }
      }
      if (active.size() > 1 && free() <= 0) {
        feedStarved();
      }
    } finally {
      distributing = false;
    }
  }

  /**
   * Gives each starved send one credit at a time, where other sends hold all credits and do not use
   * them: its message uses a credit that another send only holds.
   */
  private void feedStarved() {
    for (int i = 0; i < active.size() && credits.left() > waiting.size(); i++) {
      S next = active.get(i);
      if (next.wants() && next.isIdle()) {
        reserved++;
        next.ask(1);
      }
    }
  }

  /** Shares the credits that this duty cycle brought. */
  public void endDutyCycle() {
    if (undistributed && waiting.isEmpty()) {
      undistributed = false;
      distribute();
    } else if (active.size() > 1) {
      distribute();
    }
  }

  // ---- messages that came

  /** Counts a requested message that arrived. */
  public void came(boolean isLong) {
    reserved--;
    atOnce = isLong ? MOST_LONG_AT_ONCE : MOST_AT_ONCE;
  }

  /** Returns whether a message that arrives now is next, and has a credit. */
  public boolean mayPlace() {
    return waiting.isEmpty() && credits.left() > 0;
  }

  /**
   * Adds a message of {@code send} that waits: for others before it, for a credit, or for a place.
   */
  public void addWaiting(S send) {
    waiting.add(send);
  }

  /** Returns whether no message waits. */
  public boolean isNoneWaiting() {
    return waiting.isEmpty();
  }

  /** Returns whether the message that waits longest has a credit. */
  public boolean isReadyWaiting() {
    return !waiting.isEmpty() && credits.left() > 0;
  }

  /** Takes the send whose message waits longest; null if none waits or there is no credit. */
  public @Nullable S takeReady() {
    return credits.left() > 0 ? waiting.poll() : null;
  }

  /** Puts back the first waiting message, which found no place. */
  public void addWaitingAgain(S send) {
    waiting.addFirst(send);
  }

  // ---- end

  /** Gives no more credits to sends. */
  public void halt() {
    halted = true;
  }

  /** Forgets the sends whose messages wait. */
  public void forgetWaiting() {
    waiting.clear();
  }

  /** Calls {@code visitor} with all sends; from any thread, where it may miss some. */
  public void forEach(Consumer<? super CreditUser> visitor) {
    // A copy tolerates that the loop changes the list meanwhile, unlike an iterator.
    for (Object each : active.toArray()) {
      if (each instanceof CreditUser send) {
        visitor.accept(send);
      }
    }
  }

  /** Fails the sends that may request more messages. */
  public void failUnfinished(RdmaException error) {
    for (S send : new ArrayList<>(active)) {
      if (send.isUnfinished()) {
        send.fail(error);
      }
    }
  }

  /** Fails all sends. */
  public void fail(RdmaException error) {
    halt();
    for (S send : new ArrayList<>(active)) {
      send.fail(error);
    }
    active.clear();
  }
}
