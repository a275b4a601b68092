// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

/** The store refused a request. */
final class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode refusal;
  private final String reason;

  RefusedException(ErrorCode refusal, String reason) {
    super(refusal + ": " + reason);
    this.refusal = refusal;
    this.reason = reason;
  }

  String reason() {
    return reason;
  }

  ErrorCode refusal() {
    return refusal;
  }
}
