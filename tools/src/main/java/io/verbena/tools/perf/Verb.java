// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/** The operation that is measured. */
enum Verb {
  SEND("Send"),
  WRITE("RDMA_Write"),
  READ("RDMA_Read"),
  ATOMIC("Atomic");

  private final String title;

  Verb(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }

  /**
   * Returns whether the peer answers with data; the HCA limits the number of such requests
   * outstanding.
   */
  boolean isFetch() {
    return this == READ || this == ATOMIC;
  }
}
