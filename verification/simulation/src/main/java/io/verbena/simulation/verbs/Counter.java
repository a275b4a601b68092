package io.verbena.simulation.verbs;

import io.verbena.simulation.scenario.Violation;
import java.util.ArrayList;
import java.util.List;

/**
 * Eight bytes that many add to: each adds 1 to a digit of its own, so that the sum tells who has
 * been executed, and how often.
 */
final class Counter {
  private static final int DIGIT_BITS = 2;
  private static final int DIGIT = (1 << DIGIT_BITS) - 1;

  /** As many as have a digit. */
  static final int MAX_ADDS = Long.SIZE / DIGIT_BITS;

  final int at;
  private final List<PostedRequest> adds = new ArrayList<>();

  Counter(int at) {
    this.at = at;
  }

  boolean isFull() {
    return adds.size() == MAX_ADDS;
  }

  void add(PostedRequest post) {
    post.digit = adds.size();
    adds.add(post);
  }

  static long addend(PostedRequest post) {
    return 1L << (DIGIT_BITS * post.digit);
  }

  private static int digit(long value, int digit) {
    return (int) (value >>> (DIGIT_BITS * digit)) & DIGIT;
  }

  /**
   * Checks what an addition has found: no one twice, not itself, and all that were done before it
   * was posted.
   */
  void checkFound(PostedRequest post, long found) {
    for (PostedRequest other : adds) {
      int times = digit(found, other.digit);
      if (times > 1) {
        throw new Violation(other + " was executed " + times + " times, found " + post);
      }
      if (other == post && times != 0) {
        throw new Violation(post + " was executed before it was");
      }
      if (other.state == PostedRequest.State.DONE && other.doneAt < post.postedAt && times != 1) {
        throw new Violation(post + " did not find " + other);
      }
    }
  }

  /** Checks the sum after all is over. */
  void checkSum(long value) {
    for (PostedRequest post : adds) {
      int times = digit(value, post.digit);
      if (times > 1 || (post.state == PostedRequest.State.DONE && times != 1)) {
        throw new Violation(post + " was executed " + times + " times");
      }
    }
  }
}
