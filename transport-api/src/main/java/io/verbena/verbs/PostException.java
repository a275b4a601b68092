// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * A queue refused a work request. The requests linked before it were posted; this request and those
 * linked behind it were not, as with {@code bad_wr} in {@code ibv_post_send(3)}.
 */
public final class PostException extends VerbsException {
  private static final long serialVersionUID = 1L;

  /** The id of the first request that was not posted. */
  private final long workRequestId;

  /**
   * @param error the kind of failure
   * @param workRequestId the id of the first request that was not posted
   * @param message the value and the limit that it broke
   */
  public PostException(VerbsError error, long workRequestId, String message) {
    super(error, "work request " + workRequestId + ": " + message);
    this.workRequestId = workRequestId;
  }

  /** Returns the id of the first request that was not posted. */
  public long workRequestId() {
    return workRequestId;
  }
}
