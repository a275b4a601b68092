package io.verbena;

import static java.util.Objects.requireNonNull;

import io.verbena.meters.Meters;
import java.time.Duration;

/**
 * What a transport is made with. Immutable: each method answers a changed copy.
 *
 * @param pollMode how completion loops wait
 * @param loops completion loops, and so threads
 * @param spinTime how long {@link PollMode#ADAPTIVE} spins before it sleeps
 * @param eagerSize the longest message, in bytes, that travels in one SEND; longer ones are pulled
 *     by the receiver with RDMA READ
 * @param receiveDepth receives posted per connection
 * @param sendDepth send requests outstanding per connection
 * @param window messages that may be on their way to a subscriber that has not asked for them
 * @param maxMessageSize the longest message, in bytes, that is sent or accepted
 * @param readAhead bytes of long messages that are pulled ahead of the subscriber
 * @param maxOperations one-sided operations and sends that may wait on a connection
 * @param maxRegisteredBytes the ceiling on registered memory
 * @param maxCachedRegistrations registrations kept for direct buffers from elsewhere
 * @param connectTimeout for a connect, from subscription to handshake
 * @param operationTimeout for a one-sided operation, and for a message to be taken by the peer's
 *     HCA
 * @param closeTimeout for a graceful close
 * @param meters who is told what connections do; {@link Meters#OFF} costs nothing
 */
public record RdmaOptions(
    PollMode pollMode,
    int loops,
    Duration spinTime,
    int eagerSize,
    int receiveDepth,
    int sendDepth,
    int window,
    int maxMessageSize,
    int readAhead,
    int maxOperations,
    long maxRegisteredBytes,
    int maxCachedRegistrations,
    Duration connectTimeout,
    Duration operationTimeout,
    Duration closeTimeout,
    Meters meters) {

  public RdmaOptions {
    requireNonNull(meters, "meters");
    check("loops", loops, 1, 1024);
    check("eagerSize", eagerSize, 64, 1 << 20);
    check("receiveDepth", receiveDepth, 4, 32_768);
    check("sendDepth", sendDepth, 4, 32_768);
    check("window", window, 1, 1 << 20);
    check("maxMessageSize", maxMessageSize, 0, Integer.MAX_VALUE - 64);
    check("readAhead", readAhead, 0, Integer.MAX_VALUE);
    check("maxOperations", maxOperations, 1, 1 << 20);
    check("maxRegisteredBytes", maxRegisteredBytes, 1 << 16, Long.MAX_VALUE);
    check("maxCachedRegistrations", maxCachedRegistrations, 0, 1 << 20);
    check("spinTime", spinTime.toNanos(), 0, Long.MAX_VALUE);
    check("connectTimeout", connectTimeout.toNanos(), 1, Long.MAX_VALUE);
    check("operationTimeout", operationTimeout.toNanos(), 1, Long.MAX_VALUE);
    check("closeTimeout", closeTimeout.toNanos(), 1, Long.MAX_VALUE);
  }

  private static void check(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + ": " + value + " (expected: " + least + ".." + most + ")");
    }
  }

  /**
   * One adaptive loop, 8 KiB eager, 64 receives and sends, a window of 256 messages of up to 1 GiB,
   * 2 GiB of registered memory, no meters.
   */
  public static RdmaOptions defaults() {
    return new RdmaOptions(
        PollMode.ADAPTIVE,
        1,
        Duration.ofNanos(20_000),
        8 << 10,
        64,
        64,
        256,
        1 << 30,
        4 << 20,
        4096,
        1L << 31,
        256,
        Duration.ofSeconds(10),
        Duration.ofSeconds(30),
        Duration.ofSeconds(10),
        Meters.OFF);
  }

  /** With another {@link #pollMode}. */
  public RdmaOptions pollMode(PollMode value) {
    return new RdmaOptions(
        value,
        loops,
        spinTime,
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        maxMessageSize,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #loops}. */
  public RdmaOptions loops(int value) {
    return new RdmaOptions(
        pollMode,
        value,
        spinTime,
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        maxMessageSize,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #spinTime}. */
  public RdmaOptions spinTime(Duration value) {
    return new RdmaOptions(
        pollMode,
        loops,
        value,
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        maxMessageSize,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #eagerSize}. */
  public RdmaOptions eagerSize(int value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        value,
        receiveDepth,
        sendDepth,
        window,
        maxMessageSize,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #receiveDepth}. */
  public RdmaOptions receiveDepth(int value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        eagerSize,
        value,
        sendDepth,
        window,
        maxMessageSize,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #sendDepth}. */
  public RdmaOptions sendDepth(int value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        eagerSize,
        receiveDepth,
        value,
        window,
        maxMessageSize,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #window}. */
  public RdmaOptions window(int value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        eagerSize,
        receiveDepth,
        sendDepth,
        value,
        maxMessageSize,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #maxMessageSize}. */
  public RdmaOptions maxMessageSize(int value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        value,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #readAhead}. */
  public RdmaOptions readAhead(int value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        maxMessageSize,
        value,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #maxOperations}. */
  public RdmaOptions maxOperations(int value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        maxMessageSize,
        readAhead,
        value,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #maxRegisteredBytes}. */
  public RdmaOptions maxRegisteredBytes(long value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        maxMessageSize,
        readAhead,
        maxOperations,
        value,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #maxCachedRegistrations}. */
  public RdmaOptions maxCachedRegistrations(int value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        maxMessageSize,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        value,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #connectTimeout}. */
  public RdmaOptions connectTimeout(Duration value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        maxMessageSize,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        value,
        operationTimeout,
        closeTimeout,
        meters);
  }

  /** With another {@link #operationTimeout}. */
  public RdmaOptions operationTimeout(Duration value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        maxMessageSize,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        value,
        closeTimeout,
        meters);
  }

  /** With another {@link #closeTimeout}. */
  public RdmaOptions closeTimeout(Duration value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        maxMessageSize,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        value,
        meters);
  }

  /** With other {@link #meters}. */
  public RdmaOptions meters(Meters value) {
    return new RdmaOptions(
        pollMode,
        loops,
        spinTime,
        eagerSize,
        receiveDepth,
        sendDepth,
        window,
        maxMessageSize,
        readAhead,
        maxOperations,
        maxRegisteredBytes,
        maxCachedRegistrations,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        value);
  }
}
