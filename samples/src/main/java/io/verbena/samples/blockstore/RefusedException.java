// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

/** The store refused a request. */
final class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Refusal refusal;
  private final String reason;

  RefusedException(Refusal refusal, String reason) {
    super(refusal + ": " + reason);
    this.refusal = refusal;
    this.reason = reason;
  }

  String reason() {
    return reason;
  }

  Refusal refusal() {
    return refusal;
  }
}
