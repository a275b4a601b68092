// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.simulation.scenario.CounterDigits;
import io.verbena.simulation.scenario.Violation;
import java.util.ArrayList;
import java.util.List;

/**
 * An eight-byte counter that many fetch-and-adds modify. Each adds 1 to a digit of its own, so that
 * the sum shows which of them were executed, and how often.
 */
final class Counter {
  final int at;
  private final List<PostedRequest> adds = new ArrayList<>();

  Counter(int at) {
    this.at = at;
  }

  void add(PostedRequest post) {
    post.digit = adds.size();
    adds.add(post);
  }

  /** Returns the addend of a fetch-and-add that must not be executed. */
  static long forbidden() {
    // Such a request takes the place of an addition, so no addition has the last digit.
    return CounterDigits.addend(CounterDigits.COUNT - 1);
  }

  static long addend(PostedRequest post) {
    return CounterDigits.addend(post.digit);
  }

  /**
   * Checks the value that a fetch-and-add returned: it contains no other addition twice, not its
   * own, and every addition that completed before this one was posted.
   */
  void checkFound(PostedRequest post, long found) {
    for (PostedRequest other : adds) {
      int times = CounterDigits.get(found, other.digit);
      if (times > 1) {
        throw new Violation(other + " was executed " + times + " times, as found by " + post);
      }
      if (other == post && times != 0) {
        throw new Violation(post + " found its own addition");
      }
      if (other.state == PostedRequest.State.DONE && other.doneAt < post.postedAt && times != 1) {
        throw new Violation(post + " did not find " + other);
      }
    }
  }

  /** Checks that the final sum consists of these additions only. */
  void checkSum(long value) {
    long rest = value;
    for (PostedRequest post : adds) {
      int times = CounterDigits.get(value, post.digit);
      if (times > 1 || (post.state == PostedRequest.State.DONE && times != 1)) {
        throw new Violation(post + " was executed " + times + " times");
      }
      rest -= times * addend(post);
    }
    Violation.require(rest == 0, "nobody has added to the counter", rest);
  }
}
