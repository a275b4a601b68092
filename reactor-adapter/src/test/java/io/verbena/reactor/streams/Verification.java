// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.streams;

/** One method of the TCK, run separately. */
interface Verification {
  void begin() throws Exception;

  void end();
}
