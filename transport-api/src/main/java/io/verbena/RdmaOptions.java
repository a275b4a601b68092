package io.verbena;

import static java.util.Objects.requireNonNull;

import io.verbena.meters.Meters;
import java.time.Duration;
import java.util.function.Consumer;

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
    return with(copy -> copy.pollMode = value);
  }

  /** With another {@link #loops}. */
  public RdmaOptions loops(int value) {
    return with(copy -> copy.loops = value);
  }

  /** With another {@link #spinTime}. */
  public RdmaOptions spinTime(Duration value) {
    return with(copy -> copy.spinTime = value);
  }

  /** With another {@link #eagerSize}. */
  public RdmaOptions eagerSize(int value) {
    return with(copy -> copy.eagerSize = value);
  }

  /** With another {@link #receiveDepth}. */
  public RdmaOptions receiveDepth(int value) {
    return with(copy -> copy.receiveDepth = value);
  }

  /** With another {@link #sendDepth}. */
  public RdmaOptions sendDepth(int value) {
    return with(copy -> copy.sendDepth = value);
  }

  /** With another {@link #window}. */
  public RdmaOptions window(int value) {
    return with(copy -> copy.window = value);
  }

  /** With another {@link #maxMessageSize}. */
  public RdmaOptions maxMessageSize(int value) {
    return with(copy -> copy.maxMessageSize = value);
  }

  /** With another {@link #readAhead}. */
  public RdmaOptions readAhead(int value) {
    return with(copy -> copy.readAhead = value);
  }

  /** With another {@link #maxOperations}. */
  public RdmaOptions maxOperations(int value) {
    return with(copy -> copy.maxOperations = value);
  }

  /** With another {@link #maxRegisteredBytes}. */
  public RdmaOptions maxRegisteredBytes(long value) {
    return with(copy -> copy.maxRegisteredBytes = value);
  }

  /** With another {@link #maxCachedRegistrations}. */
  public RdmaOptions maxCachedRegistrations(int value) {
    return with(copy -> copy.maxCachedRegistrations = value);
  }

  /** With another {@link #connectTimeout}. */
  public RdmaOptions connectTimeout(Duration value) {
    return with(copy -> copy.connectTimeout = value);
  }

  /** With another {@link #operationTimeout}. */
  public RdmaOptions operationTimeout(Duration value) {
    return with(copy -> copy.operationTimeout = value);
  }

  /** With another {@link #closeTimeout}. */
  public RdmaOptions closeTimeout(Duration value) {
    return with(copy -> copy.closeTimeout = value);
  }

  /** With other {@link #meters}. */
  public RdmaOptions meters(Meters value) {
    return with(copy -> copy.meters = value);
  }

  private RdmaOptions with(Consumer<Copy> change) {
    Copy copy = new Copy(this);
    change.accept(copy);
    return copy.checked();
  }

  /** All of them, to be changed. */
  private static final class Copy {
    private PollMode pollMode;
    private int loops;
    private Duration spinTime;
    private int eagerSize;
    private int receiveDepth;
    private int sendDepth;
    private int window;
    private int maxMessageSize;
    private int readAhead;
    private int maxOperations;
    private long maxRegisteredBytes;
    private int maxCachedRegistrations;
    private Duration connectTimeout;
    private Duration operationTimeout;
    private Duration closeTimeout;
    private Meters meters;

    Copy(RdmaOptions of) {
      pollMode = of.pollMode;
      loops = of.loops;
      spinTime = of.spinTime;
      eagerSize = of.eagerSize;
      receiveDepth = of.receiveDepth;
      sendDepth = of.sendDepth;
      window = of.window;
      maxMessageSize = of.maxMessageSize;
      readAhead = of.readAhead;
      maxOperations = of.maxOperations;
      maxRegisteredBytes = of.maxRegisteredBytes;
      maxCachedRegistrations = of.maxCachedRegistrations;
      connectTimeout = of.connectTimeout;
      operationTimeout = of.operationTimeout;
      closeTimeout = of.closeTimeout;
      meters = of.meters;
    }

    RdmaOptions checked() {
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
          meters);
    }
  }
}
