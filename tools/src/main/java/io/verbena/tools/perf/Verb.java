package io.verbena.tools.perf;

/** What is measured. */
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
   * Whether the peer is asked for an answer with data, of which the HCA bounds how many at once.
   */
  boolean isFetch() {
    return this == READ || this == ATOMIC;
  }
}
