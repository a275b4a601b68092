// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/** A participant that makes calls of one request and one answer, a given number of them at once. */
public interface UnaryCalls extends Participant {
  /**
   * Makes calls and returns when the last answer was checked.
   *
   * @throws Exception if a call fails or {@code deadline} passes
   */
  void call(long calls, Deadline deadline) throws Exception;
}
