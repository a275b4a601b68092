// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

/** The reason why the store refuses a request. */
enum ErrorCode {
  /** The request could not be understood. */
  MALFORMED(1),
  /** No block has this name. */
  UNKNOWN_BLOCK(2),
  /** A block has this name already. */
  NAME_TAKEN(3),
  /** A length out of range. */
  BAD_LENGTH(4),
  /** There is no memory now. */
  NO_SPACE(5),
  /** The digest of the written block differs from the announced one. */
  WRONG_DIGEST(6),
  /** This transport has no one-sided operations. */
  NOT_SUPPORTED(7);

  private final int code;

  ErrorCode(int code) {
    this.code = code;
  }

  /** Its number in a message. */
  int code() {
    return code;
  }
}
