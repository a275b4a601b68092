package io.verbena.verbs;

/** The transport service of a queue pair. */
public enum QueuePairType {
  /** Reliable connection: all operations, in order, exactly once. */
  RC,
  /** Unreliable connection: SEND and WRITE, in order, perhaps lost. */
  UC,
  /** Unreliable datagram: SEND of up to one MTU to any peer. */
  UD
}
