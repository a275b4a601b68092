// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import static java.util.Objects.requireNonNull;

import io.verbena.meters.Meters;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The options of a transport. Immutable; built by a {@link Builder}, which documents each option
 * with its unit, range and default:
 *
 * <pre>{@code
 * RdmaOptions options =
 *     RdmaOptions.builder().pollMode(PollMode.BUSY).connectTimeout(Duration.ofSeconds(3)).build();
 * RdmaOptions patient = options.toBuilder().operationTimeout(Duration.ofMinutes(2)).build();
 * }</pre>
 *
 * <table>
 *   <caption>Options by group</caption>
 *   <tr><th>Loops</th><td>{@link #pollMode}, {@link #loops}, {@link #spinTime},
 *       {@link #stallWarning}</td></tr>
 *   <tr><th>Memory</th><td>{@link #maxRegisteredBytes}, {@link #maxCachedRegistrations}</td></tr>
 *   <tr><th>Messages</th><td>{@link #eagerSize}, {@link #maxMessageSize}, {@link #receiveDepth},
 *       {@link #sendDepth}, {@link #window}, {@link #readAhead}, {@link #maxOperations}</td></tr>
 *   <tr><th>Connections</th><td>{@link #maxConnections}, {@link #maxConnectionsPerPeer}</td></tr>
 *   <tr><th>Timeouts</th><td>{@link #connectTimeout}, {@link #operationTimeout},
 *       {@link #closeTimeout}, {@link #keepAlive}</td></tr>
 *   <tr><th>Meters</th><td>{@link #meters}</td></tr>
 * </table>
 */
public final class RdmaOptions {
  private static final RdmaOptions DEFAULTS = new Builder().build();

  private final PollMode pollMode;
  private final int loops;
  private final Duration spinTime;
  private final Duration stallWarning;

  private final long maxRegisteredBytes;
  private final int maxCachedRegistrations;

  private final int eagerSize;
  private final int maxMessageSize;
  private final int receiveDepth;
  private final int sendDepth;
  private final int window;
  private final int readAhead;
  private final int maxOperations;

  private final int maxConnections;
  private final int maxConnectionsPerPeer;

  private final Duration connectTimeout;
  private final Duration operationTimeout;
  private final Duration closeTimeout;
  private final Duration keepAlive;

  private final Meters meters;

  private RdmaOptions(Builder builder) {
    pollMode = builder.pollMode;
    loops = builder.loops;
    spinTime = builder.spinTime;
    stallWarning = builder.stallWarning;
    maxRegisteredBytes = builder.maxRegisteredBytes;
    maxCachedRegistrations = builder.maxCachedRegistrations;
    eagerSize = builder.eagerSize;
    maxMessageSize = builder.maxMessageSize;
    receiveDepth = builder.receiveDepth;
    sendDepth = builder.sendDepth;
    window = builder.window;
    readAhead = builder.readAhead;
    maxOperations = builder.maxOperations;
    maxConnections = builder.maxConnections;
    maxConnectionsPerPeer = builder.maxConnectionsPerPeer;
    connectTimeout = builder.connectTimeout;
    operationTimeout = builder.operationTimeout;
    closeTimeout = builder.closeTimeout;
    keepAlive = builder.keepAlive;
    meters = builder.meters;
  }

  /** Returns the options with every default. */
  public static RdmaOptions defaults() {
    return DEFAULTS;
  }

  /** Returns a builder that begins with every default. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns a builder that begins with these options. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  // ---- Loops

  /** See {@link Builder#pollMode}. */
  public PollMode pollMode() {
    return pollMode;
  }

  /** See {@link Builder#loops}. */
  public int loops() {
    return loops;
  }

  /** See {@link Builder#spinTime}. */
  public Duration spinTime() {
    return spinTime;
  }

  /** See {@link Builder#stallWarning}. */
  public Duration stallWarning() {
    return stallWarning;
  }

  // ---- Memory

  /** See {@link Builder#maxRegisteredBytes}. */
  public long maxRegisteredBytes() {
    return maxRegisteredBytes;
  }

  /** See {@link Builder#maxCachedRegistrations}. */
  public int maxCachedRegistrations() {
    return maxCachedRegistrations;
  }

  // ---- Messages

  /** See {@link Builder#eagerSize}. */
  public int eagerSize() {
    return eagerSize;
  }

  /** See {@link Builder#maxMessageSize}. */
  public int maxMessageSize() {
    return maxMessageSize;
  }

  /** See {@link Builder#receiveDepth}. */
  public int receiveDepth() {
    return receiveDepth;
  }

  /** See {@link Builder#sendDepth}. */
  public int sendDepth() {
    return sendDepth;
  }

  /** See {@link Builder#window}. */
  public int window() {
    return window;
  }

  /** See {@link Builder#readAhead}. */
  public int readAhead() {
    return readAhead;
  }

  /** See {@link Builder#maxOperations}. */
  public int maxOperations() {
    return maxOperations;
  }

  // ---- Connections

  /** See {@link Builder#maxConnections}. */
  public int maxConnections() {
    return maxConnections;
  }

  /** See {@link Builder#maxConnectionsPerPeer}. */
  public int maxConnectionsPerPeer() {
    return maxConnectionsPerPeer;
  }

  // ---- Timeouts

  /** See {@link Builder#connectTimeout}. */
  public Duration connectTimeout() {
    return connectTimeout;
  }

  /** See {@link Builder#operationTimeout}. */
  public Duration operationTimeout() {
    return operationTimeout;
  }

  /** See {@link Builder#closeTimeout}. */
  public Duration closeTimeout() {
    return closeTimeout;
  }

  /** See {@link Builder#keepAlive}. */
  public Duration keepAlive() {
    return keepAlive;
  }

  // ---- Meters

  /** See {@link Builder#meters}. */
  public Meters meters() {
    return meters;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof RdmaOptions that
        && pollMode == that.pollMode
        && loops == that.loops
        && spinTime.equals(that.spinTime)
        && stallWarning.equals(that.stallWarning)
        && maxRegisteredBytes == that.maxRegisteredBytes
        && maxCachedRegistrations == that.maxCachedRegistrations
        && eagerSize == that.eagerSize
        && maxMessageSize == that.maxMessageSize
        && receiveDepth == that.receiveDepth
        && sendDepth == that.sendDepth
        && window == that.window
        && readAhead == that.readAhead
        && maxOperations == that.maxOperations
        && maxConnections == that.maxConnections
        && maxConnectionsPerPeer == that.maxConnectionsPerPeer
        && connectTimeout.equals(that.connectTimeout)
        && operationTimeout.equals(that.operationTimeout)
        && closeTimeout.equals(that.closeTimeout)
        && keepAlive.equals(that.keepAlive)
        && meters.equals(that.meters);
  }

  @Override
  public int hashCode() {
    return Objects.hash(
        pollMode,
        loops,
        spinTime,
        stallWarning,
        maxRegisteredBytes,
        maxCachedRegistrations,
        eagerSize,
        maxMessageSize,
        receiveDepth,
        sendDepth,
        window,
        readAhead,
        maxOperations,
        maxConnections,
        maxConnectionsPerPeer,
        connectTimeout,
        operationTimeout,
        closeTimeout,
        keepAlive,
        meters);
  }

  @Override
  public String toString() {
    return "RdmaOptions[pollMode="
        + pollMode
        + ", loops="
        + loops
        + ", spinTime="
        + spinTime
        + ", stallWarning="
        + stallWarning
        + ", maxRegisteredBytes="
        + maxRegisteredBytes
        + ", maxCachedRegistrations="
        + maxCachedRegistrations
        + ", eagerSize="
        + eagerSize
        + ", maxMessageSize="
        + maxMessageSize
        + ", receiveDepth="
        + receiveDepth
        + ", sendDepth="
        + sendDepth
        + ", window="
        + window
        + ", readAhead="
        + readAhead
        + ", maxOperations="
        + maxOperations
        + ", maxConnections="
        + maxConnections
        + ", maxConnectionsPerPeer="
        + maxConnectionsPerPeer
        + ", connectTimeout="
        + connectTimeout
        + ", operationTimeout="
        + operationTimeout
        + ", closeTimeout="
        + closeTimeout
        + ", keepAlive="
        + keepAlive
        + ", meters="
        + meters
        + ']';
  }

  /**
   * Builds {@link RdmaOptions}. Each method checks its value at once, so that the stack trace of an
   * {@link IllegalArgumentException} or {@link NullPointerException} names the line that passed it.
   * Not thread-safe; {@link #build} may be called more than once.
   */
  public static final class Builder {
    /** The longest duration whose nanoseconds fit into a {@code long}. */
    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

    private PollMode pollMode = PollMode.ADAPTIVE;
    private int loops = 1;
    private Duration spinTime = Duration.ofNanos(100_000);
    private Duration stallWarning = Duration.ofSeconds(2);

    private long maxRegisteredBytes = 1L << 31;
    private int maxCachedRegistrations = 256;

    private int eagerSize = 8 << 10;
    private int maxMessageSize = 1 << 30;
    private int receiveDepth = 64;
    private int sendDepth = 64;
    private int window = 256;
    private int readAhead = 4 << 20;
    private int maxOperations = 4096;

    private int maxConnections = Integer.MAX_VALUE;
    private int maxConnectionsPerPeer = Integer.MAX_VALUE;

    private Duration connectTimeout = Duration.ofSeconds(10);
    private Duration operationTimeout = Duration.ofSeconds(30);
    private Duration closeTimeout = Duration.ofSeconds(10);
    private Duration keepAlive = Duration.ofSeconds(30);

    private Meters meters = Meters.OFF;

    private Builder() {}

    private Builder(RdmaOptions from) {
      pollMode = from.pollMode;
      loops = from.loops;
      spinTime = from.spinTime;
      stallWarning = from.stallWarning;
      maxRegisteredBytes = from.maxRegisteredBytes;
      maxCachedRegistrations = from.maxCachedRegistrations;
      eagerSize = from.eagerSize;
      maxMessageSize = from.maxMessageSize;
      receiveDepth = from.receiveDepth;
      sendDepth = from.sendDepth;
      window = from.window;
      readAhead = from.readAhead;
      maxOperations = from.maxOperations;
      maxConnections = from.maxConnections;
      maxConnectionsPerPeer = from.maxConnectionsPerPeer;
      connectTimeout = from.connectTimeout;
      operationTimeout = from.operationTimeout;
      closeTimeout = from.closeTimeout;
      keepAlive = from.keepAlive;
      meters = from.meters;
    }

    /** Returns the options as they are set now. */
    public RdmaOptions build() {
      return new RdmaOptions(this);
    }

    // ---- Loops

    /**
     * Sets how completion loops wait for work: the mode trades CPU time for latency.
     *
     * @param value any mode; {@link PollMode#ADAPTIVE} by default
     */
    public Builder pollMode(PollMode value) {
      pollMode = requireNonNull(value, "pollMode");
      return this;
    }

    /**
     * Sets the number of completion loops, and so of threads, for each device. More than one lets
     * connections run in parallel; each connection belongs to one loop.
     *
     * @param value loops, 1 to 1024; 1 by default
     */
    public Builder loops(int value) {
      loops = checked("loops", value, 1, 1024);
      return this;
    }

    /**
     * Sets the longest time for which an {@link PollMode#ADAPTIVE} loop without work spins before
     * it sleeps. The loop spins for a shorter time, down to none, if work usually arrives later or
     * if another thread needs the CPU. Work that arrives while the loop spins does not pay for
     * waking it. Other modes ignore this option.
     *
     * @param value 0 to 2<sup>63</sup> - 1 ns; 100 us by default
     */
    public Builder spinTime(Duration value) {
      spinTime = checked("spinTime", value, Duration.ZERO, "0");
      return this;
    }

    /**
     * Sets the time without a duty cycle after which a completion loop is reported, with the stack
     * of its thread: a subscriber that blocks the thread stops all connections of the loop. A loop
     * is reported at most once a minute, and never while it has no work. Netty's channels ignore
     * this option.
     *
     * @param value 0 (never) to 2<sup>63</sup> - 1 ns; 2 s by default
     */
    public Builder stallWarning(Duration value) {
      stallWarning = checked("stallWarning", value, Duration.ZERO, "0");
      return this;
    }

    // ---- Memory

    /**
     * Limits the memory that the transport registers, and thereby locks, for each device. An
     * operation that needs more fails with {@link MemoryLimitException}.
     *
     * <p>Buffers that transports allocate are limited further: all transports of the JVM together
     * use at most three quarters of its limit on direct memory ({@code -XX:MaxDirectMemorySize}, by
     * default as much as {@code -Xmx}). Memory that users register, such as a mapped file, may use
     * the rest.
     *
     * @param value bytes, 65536 to 2<sup>63</sup> - 1; 2 GiB by default
     */
    public Builder maxRegisteredBytes(long value) {
      maxRegisteredBytes = checked("maxRegisteredBytes", value, 1 << 16, Long.MAX_VALUE);
      return this;
    }

    /**
     * Limits the registrations that are kept for direct buffers of other allocators; a buffer with
     * a kept registration is not registered again when it is sent again. Must be 0 if a pool unmaps
     * chunks while its buffers are being sent.
     *
     * @param value registrations, 0 to 1048576; 256 by default
     */
    public Builder maxCachedRegistrations(int value) {
      maxCachedRegistrations = checked("maxCachedRegistrations", value, 0, 1 << 20);
      return this;
    }

    // ---- Messages

    /**
     * Sets the longest message that travels in one SEND, and so the length of each receive buffer.
     * The receiver pulls longer messages by RDMA READ. A connection uses the smaller value of its
     * two ends.
     *
     * @param value bytes, 64 to 1048576; 8 KiB by default
     */
    public Builder eagerSize(int value) {
      eagerSize = checked("eagerSize", value, 64, 1 << 20);
      return this;
    }

    /**
     * Limits the length of a message that is sent or accepted, so that no peer makes this end
     * allocate more.
     *
     * @param value bytes, 0 to 2147483583; 1 GiB by default
     */
    public Builder maxMessageSize(int value) {
      maxMessageSize = checked("maxMessageSize", value, 0, Integer.MAX_VALUE - 64);
      return this;
    }

    /**
     * Sets how many receives a busy connection may have. More receives let the peer send more
     * before it waits for credits; each takes {@link #eagerSize} bytes. The connections of a loop
     * share receives if the device supports that; an idle connection then has at most 8.
     *
     * @param value receives, 4 to 32768; 64 by default
     */
    public Builder receiveDepth(int value) {
      receiveDepth = checked("receiveDepth", value, 4, 32_768);
      return this;
    }

    /**
     * Sets how many send requests may be outstanding on each connection. Further ones wait.
     *
     * @param value send requests, 4 to 32768; 64 by default
     */
    public Builder sendDepth(int value) {
      sendDepth = checked("sendDepth", value, 4, 32_768);
      return this;
    }

    /**
     * Sets how many messages may be under way that the subscriber has not requested: the message
     * credits that this end gives its peer in advance.
     *
     * @param value messages, 1 to 1048576; 256 by default
     */
    public Builder window(int value) {
      window = checked("window", value, 1, 1 << 20);
      return this;
    }

    /**
     * Limits the bytes of long messages that are pulled ahead of their turn. The message that the
     * subscriber receives next is pulled whatever its length.
     *
     * @param value bytes, 0 to 2147483647; 4 MiB by default
     */
    public Builder readAhead(int value) {
      readAhead = checked("readAhead", value, 0, Integer.MAX_VALUE);
      return this;
    }

    /**
     * Limits the sends and one-sided operations that may wait on a connection. Further ones fail
     * with {@link OperationLimitException}.
     *
     * @param value operations, 1 to 1048576; 4096 by default
     */
    public Builder maxOperations(int value) {
      maxOperations = checked("maxOperations", value, 1, 1 << 20);
      return this;
    }

    // ---- Connections

    /**
     * Limits the connections of each server, including those that are being accepted. Further
     * clients get {@link RdmaConnectException} with {@link RejectReason#CONNECTION_LIMIT}. Netty's
     * channels have an option of their own.
     *
     * @param value connections, 1 to 2147483647; 2147483647, no limit, by default
     */
    public Builder maxConnections(int value) {
      maxConnections = checked("maxConnections", value, 1, Integer.MAX_VALUE);
      return this;
    }

    /**
     * Limits the connections of each server from one IP address, including those that are being
     * accepted. Further clients get {@link RdmaConnectException} with {@link
     * RejectReason#PEER_LIMIT}. On {@code emulated://}, which has no addresses, all clients count
     * as one peer.
     *
     * @param value connections, 1 to 2147483647; 2147483647, no limit, by default
     */
    public Builder maxConnectionsPerPeer(int value) {
      maxConnectionsPerPeer = checked("maxConnectionsPerPeer", value, 1, Integer.MAX_VALUE);
      return this;
    }

    // ---- Timeouts

    /**
     * Limits the time of a connect, from subscription to handshake.
     *
     * @param value 1 to 2<sup>63</sup> - 1 ns; 10 s by default
     */
    public Builder connectTimeout(Duration value) {
      connectTimeout = checkedTimeout("connectTimeout", value);
      return this;
    }

    /**
     * Limits the time of a one-sided operation, and the time until the peer's HCA has received a
     * message that was sent. While a subscriber blocks the completion loop, operations still fail
     * when their time is over, but not before {@link #stallWarning}; the buffers of posted requests
     * stay leased to the HCA until the loop continues.
     *
     * @param value 1 to 2<sup>63</sup> - 1 ns; 30 s by default
     */
    public Builder operationTimeout(Duration value) {
      operationTimeout = checkedTimeout("operationTimeout", value);
      return this;
    }

    /**
     * Limits the time of a graceful close, which waits for the operations of both ends.
     *
     * @param value 1 to 2<sup>63</sup> - 1 ns; 10 s by default
     */
    public Builder closeTimeout(Duration value) {
      closeTimeout = checkedTimeout("closeTimeout", value);
      return this;
    }

    /**
     * Sets the time without any completion on a connection after which this end probes its peer.
     * The peer's HCA answers the probe, not its program. Each end probes by its own option; less
     * than 1 ms counts as 1 ms. {@code SO_KEEPALIVE} turns the probes of a Netty channel off.
     *
     * <p>If the peer's process or host is gone, the connection and its pending operations fail with
     * {@link PeerUnreachableException}, after this time and at most the time of the queue pair's
     * retries: 4.096 us * 2<sup>timeout</sup> * (retries + 1). The transport asks for 7 retries.
     * The timeout is 14 on {@code emulated://} (0.54 s in all) and 16 on {@code roce://} (2.2 s);
     * an RNIC's connection manager chooses its own. {@link #operationTimeout} replaces the time of
     * the retries if it is shorter, and also on Soft-RoCE, which takes 7 retries as retries without
     * end, and on iWARP, where TCP retries for minutes.
     *
     * @param value 0 (never) to 2<sup>63</sup> - 1 ns; 30 s by default
     */
    public Builder keepAlive(Duration value) {
      keepAlive = checked("keepAlive", value, Duration.ZERO, "0");
      return this;
    }

    // ---- Meters

    /**
     * Sets the meters that measure connections.
     *
     * @param value any meters; {@link Meters#OFF}, which costs nothing, by default
     */
    public Builder meters(Meters value) {
      meters = requireNonNull(value, "meters");
      return this;
    }

    private static int checked(String name, int value, int least, int most) {
      return (int) checked(name, (long) value, least, most);
    }

    private static long checked(String name, long value, long least, long most) {
      if (value < least || value > most) {
        throw new IllegalArgumentException(
            name + ": " + value + " (expected: " + least + " to " + most + ")");
      }
      return value;
    }

    private static Duration checkedTimeout(String name, Duration value) {
      return checked(name, value, Duration.ofNanos(1), "1");
    }

    private static Duration checked(
        String name, Duration value, Duration least, String leastNanos) {
      if (requireNonNull(value, name).compareTo(least) < 0 || value.compareTo(LONGEST) > 0) {
        throw new IllegalArgumentException(
            name + ": " + value + " (expected: " + leastNanos + " to " + Long.MAX_VALUE + " ns)");
      }
      return value;
    }
  }
}
