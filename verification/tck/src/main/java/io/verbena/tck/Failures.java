// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.verbena.verbs.PostException;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Assertions about verbs that throw. */
final class Failures {
  private Failures() {}

  /** Asserts that a verb fails with this error and that its message names the errno. */
  static VerbsException expectFailure(VerbsError error, ThrowingCallable verb) {
    return expectFailure(error, "the verb", verb);
  }

  /**
   * As {@link #expectFailure(VerbsError, ThrowingCallable)}; {@code what} describes the verb, for
   * tests that call several.
   */
  static VerbsException expectFailure(VerbsError error, String what, ThrowingCallable verb) {
    Throwable thrown = catchThrowable(verb);
    assertThat(thrown)
        .as("%s must fail with %s", what, error)
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(error.errno());
    VerbsException failure = (VerbsException) thrown;
    assertThat(failure.error()).as("%s: %s", what, failure.getMessage()).isEqualTo(error);
    return failure;
  }

  /**
   * Asserts that a post fails with this error and names this request as the first that was not
   * posted.
   */
  static PostException expectBadPost(VerbsError error, long workRequestId, ThrowingCallable post) {
    VerbsException failure = expectFailure(error, "the post", post);
    assertThat(failure).isInstanceOf(PostException.class);
    PostException bad = (PostException) failure;
    assertThat(bad.workRequestId()).as("the bad work request").isEqualTo(workRequestId);
    return bad;
  }
}
