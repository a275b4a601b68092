// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

import io.verbena.RdmaException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The peer's message credits, and the sends that share them. A credit goes this way:
 *
 * <pre>{@code
 * free --asked of a send--> reserved --message came, no place yet--> waiting
 *   ^                        |    |                                    |
 *   +------given back--------+    +------------placed------------------+--> used
 * }</pre>
 *
 * Free credits are asked of the sends in turns. The number that wait is what {@link #waiting}
 * holds, in the order in which they came. Only on the loop.
 *
 * @param <S> the sends
 */
public final class CreditShares<S extends CreditUser> {
  /** The most long messages to ask for: about as many as the peer READs while one is filled. */
  public static final int MOST_LONG_AT_ONCE = 4;

  /** So many are asked for before it is seen whether frames can take them: memory stays warm. */
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

  /** Takes the peer's newest grant; it is shared when the turn ends. */
  public void granted(int limit) {
    int before = credits.left();
    credits.raise(limit);
    undistributed |= credits.left() != before;
  }

  /** Uses up the credit of a message that was placed. */
  public void use() {
    credits.use();
  }

  /** Credits that a send was asked for and will not use. */
  public void giveBack(int count) {
    reserved -= count;
  }

  /** Credits that no message has used. */
  public int left() {
    return credits.left();
  }

  private int free() {
    return credits.left() - waiting.size() - reserved;
  }

  // ---- sends

  /** A send began. */
  public void start(S send) {
    active.add(send);
  }

  /** Returns how many sends there are. */
  public int count() {
    return active.size();
  }

  /**
   * A send is over.
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
   * Asks each starved send for one message at a time, where others hold all credits and do not use
   * them; the message takes a credit that another only holds.
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

  /** Shares what this turn brought. */
  public void endDutyCycle() {
    if (undistributed && waiting.isEmpty()) {
      undistributed = false;
      distribute();
    } else if (active.size() > 1) {
      distribute();
    }
  }

  // ---- messages that came

  /** A message came that was asked for. */
  public void came(boolean isLong) {
    reserved--;
    atOnce = isLong ? MOST_LONG_AT_ONCE : MOST_AT_ONCE;
  }

  /** Returns whether a message that came is next, and has a credit. */
  public boolean mayPlace() {
    return waiting.isEmpty() && credits.left() > 0;
  }

  /** The message that came waits: others are before it, or it has no credit or no place. */
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

  /** Its message found no place, and waits on. */
  public void addWaitingAgain(S send) {
    waiting.addFirst(send);
  }

  // ---- end

  /** Asks for nothing any more. */
  public void halt() {
    halted = true;
  }

  /** Forgets the sends whose messages wait. */
  public void forgetWaiting() {
    waiting.clear();
  }

  /** Calls {@code visitor} with all sends that can be seen; also from another thread. */
  public void forEach(Consumer<? super CreditUser> visitor) {
    // Unlike an iterator, a copy does not mind that the loop changes the list meanwhile.
    for (Object each : active.toArray()) {
      if (each instanceof CreditUser send) {
        visitor.accept(send);
      }
    }
  }

  /** Fails the sends that might ask for more. */
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
