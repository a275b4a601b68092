package io.verbena.disni;

/** A queue whose requests hold slots until their completions are polled. */
interface SlotHolder {

  /** What the {@linkplain Cookie cookies} of its requests begin with now. */
  int tag();

  /**
   * Frees the slot of a request whose completion is being polled, and in a send or receive queue
   * those before it. Called by one poller of a completion queue at a time.
   *
   * @return the id that the program gave it
   */
  long free(boolean receive, int sequence);

  /** Whether it is of datagrams, whose receives begin with a GRH and tell who sent them. */
  boolean isOfDatagrams();

  /** A request completed with an error: by the rules of RC the queue pair is in ERR. */
  void failed();
}
