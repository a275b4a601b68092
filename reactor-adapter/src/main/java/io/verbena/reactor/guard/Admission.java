// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.guard;

import io.verbena.OperationLimitException;
import io.verbena.RdmaException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether an operation may start: the connection must be open, and only so many operations
 * may wait.
 */
public final class Admission {

  /** Refuses the operations of a connection that is not open. */
  @FunctionalInterface
  public interface Gate {

    /**
     * Returns the exception for an operation of this name that the connection does not take, or
     * null; on the loop.
     */
    @Nullable RdmaException refuse(String operation);
  }

  private final String peer;
  private final int most;
  private final Gate gate;
  private final AtomicInteger admitted = new AtomicInteger();

  /**
   * @param peer human-readable peer address, for errors
   * @param most how many operations may wait, {@code RdmaOptions.maxOperations}
   */
  public Admission(String peer, int most, Gate gate) {
    this.peer = peer;
    this.most = most;
    this.gate = gate;
  }

  /** Returns the human-readable peer address, for errors. */
  public String peer() {
    return peer;
  }

  /** Returns how many operations may wait. */
  public int most() {
    return most;
  }

  /** Returns the exception for an operation that cannot start, or null; on the loop. */
  public @Nullable RdmaException refuse(String operation) {
    return gate.refuse(operation);
  }

  /**
   * Returns the exception for an operation that cannot start while {@code waiting} others wait, or
   * null; on the loop.
   */
  public @Nullable RdmaException refuse(String operation, int waiting) {
    RdmaException refusal = gate.refuse(operation);
    return refusal == null && waiting >= most ? tooMany(operation, waiting) : refusal;
  }

  /** Returns the error of an operation that finds too many waiting. */
  public RdmaException tooMany(String operation, int waiting) {
    return new OperationLimitException(
        operation,
        peer,
        "operations that wait: "
            + waiting
            + " (expected: < "
            + most
            + ", RdmaOptions.maxOperations)");
  }

  /**
   * Admits an operation to wait for the loop and returns null, or returns the error; from any
   * thread.
   */
  public @Nullable RdmaException admit(String operation) {
    int waiting = admitted.getAndIncrement();
    if (waiting < most) {
      return null;
    }
    admitted.getAndDecrement();
    return tooMany(operation, waiting);
  }

  /** Ends the wait of an operation that {@link #admit} has admitted. */
  public void admitted() {
    admitted.getAndDecrement();
  }
}
