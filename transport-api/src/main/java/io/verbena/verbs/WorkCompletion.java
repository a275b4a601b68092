// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * A completion ({@code ibv_wc}), in memory that the caller of {@link CompletionQueue#poll} owns and
 * reuses. Not thread-safe. After an error only {@link #workRequestId}, {@link #status}, {@link
 * #queuePairNumber} and {@link #vendorError} are valid.
 */
public final class WorkCompletion {
  /** The receive carries immediate data. */
  public static final int WITH_IMM = 1;

  /** The receive came with a GRH, in the first 40 bytes of the buffer. */
  public static final int GRH = 1 << 1;

  /** The receive invalidated a key of this end. */
  public static final int WITH_INV = 1 << 2;

  private long workRequestId;
  // Codes, not references: the garbage collector's barrier would cost more than all other stores
  // together.
  private int statusCode;
  private int opcodeCode;
  private int vendorError;
  private int byteLength;
  private int immediate;
  private int queuePairNumber;
  private int sourceQueuePair;
  private int flags;

  /** The sender's service level, above the 16 bits of its LID. */
  private int source;

  /** Returns an array of {@code count} new completions to poll into. */
  public static WorkCompletion[] array(int count) {
    WorkCompletion[] completions = new WorkCompletion[count];
    for (int i = 0; i < count; i++) {
      completions[i] = new WorkCompletion();
    }
    return completions;
  }

  /** Returns the id that the work request was posted with. */
  public long workRequestId() {
    return workRequestId;
  }

  /** Returns the status. */
  public CompletionStatus status() {
    return CompletionStatus.of(statusCode);
  }

  /** Returns whether the status is {@link CompletionStatus#SUCCESS}. */
  public boolean isSuccess() {
    return statusCode == 0;
  }

  /** Returns the kind of the completed operation. */
  public CompletionOpcode opcode() {
    return CompletionOpcode.of(opcodeCode);
  }

  /** Returns the vendor's error code. */
  public int vendorError() {
    return vendorError;
  }

  /** Returns the number of bytes received, read, or written by a peer's WRITE_WITH_IMM. */
  public int byteLength() {
    return byteLength;
  }

  /** Returns the immediate, in host order, if {@link #hasImmediate}. */
  public int immediate() {
    return immediate;
  }

  /** Returns the key that was invalidated, if {@link #flags} has {@link #WITH_INV}. */
  public int invalidatedKey() {
    return immediate;
  }

  /** Returns whether there is an immediate. */
  public boolean hasImmediate() {
    return (flags & WITH_IMM) != 0;
  }

  /** Returns the number of the local queue pair. */
  public int queuePairNumber() {
    return queuePairNumber;
  }

  /** Returns the number of the sender's queue pair, for UD. */
  public int sourceQueuePair() {
    return sourceQueuePair;
  }

  /**
   * Returns the LID of a datagram's sender, or of the router that it came by; 0 except on
   * InfiniBand.
   */
  public int sourceLid() {
    return source & 0xffff;
  }

  /** Returns the service level of a datagram; 0 except on InfiniBand. */
  public int serviceLevel() {
    return source >>> 16;
  }

  /** Returns the flags: {@link #WITH_IMM}, {@link #GRH}, {@link #WITH_INV}. */
  public int flags() {
    return flags;
  }

  /** For providers: sets all fields of a successful completion. */
  public void set(
      long workRequestId,
      CompletionOpcode opcode,
      int byteLength,
      int immediate,
      int queuePairNumber,
      int sourceQueuePair,
      int flags) {
    this.workRequestId = workRequestId;
    this.statusCode = 0;
    this.opcodeCode = opcode.code();
    this.vendorError = 0;
    this.byteLength = byteLength;
    this.immediate = immediate;
    this.queuePairNumber = queuePairNumber;
    this.sourceQueuePair = sourceQueuePair;
    this.flags = flags;
    source = 0;
  }

  /**
   * For providers: sets the source of a datagram on InfiniBand, after all other fields.
   *
   * @param lid 16 bits
   * @param serviceLevel 0 to 15
   */
  public void setSource(int lid, int serviceLevel) {
    source = serviceLevel << 16 | lid;
  }

  /** For providers: sets all fields of a failed completion. */
  public void setError(
      long workRequestId, CompletionStatus status, int vendorError, int queuePairNumber) {
    this.workRequestId = workRequestId;
    this.statusCode = status.code();
    this.vendorError = vendorError;
    this.queuePairNumber = queuePairNumber;
    this.byteLength = 0;
    this.flags = 0;
    source = 0;
  }

  /**
   * For providers: copies another completion, with another work request id.
   *
   * @param from the completion to copy; may be this one
   */
  public void set(long workRequestId, WorkCompletion from) {
    this.workRequestId = workRequestId;
    this.statusCode = from.statusCode;
    this.opcodeCode = from.opcodeCode;
    this.vendorError = from.vendorError;
    this.byteLength = from.byteLength;
    this.immediate = from.immediate;
    this.queuePairNumber = from.queuePairNumber;
    this.sourceQueuePair = from.sourceQueuePair;
    this.flags = from.flags;
    source = from.source;
  }

  @Override
  public String toString() {
    return "WorkCompletion["
        + workRequestId
        + ' '
        + status()
        + (isSuccess() ? " " + opcode() + ' ' + byteLength + " B" : " vendor error " + vendorError)
        + " qp "
        + queuePairNumber
        + ']';
  }
}
