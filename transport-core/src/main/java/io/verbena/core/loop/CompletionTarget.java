// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.WorkCompletion;

/** Receives completions. */
public interface CompletionTarget {

  /**
   * Called on the polling thread when a work request of this target has completed. Must not throw.
   *
   * @param completion belongs to the poller, which overwrites it after the call
   */
  void completed(WorkCompletion completion);
}
