package io.verbena.benchmarks.work;

/** Connections within this JVM, of which most have nothing to say. */
public interface Crowd extends Participant {
  /**
   * Opens so many more connections, one after the other, and sends a message to and fro on each.
   *
   * @throws Exception if one cannot be opened, a message fails or {@code deadline} passes
   */
  void open(int connections, Deadline deadline) throws Exception;
}
