// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

/** A message that does not belong to the block store's protocol, or is unexpected. */
final class ProtocolException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ProtocolException(String message) {
    super(message);
  }

  ProtocolException(String message, Throwable cause) {
    super(message, cause);
  }
}
