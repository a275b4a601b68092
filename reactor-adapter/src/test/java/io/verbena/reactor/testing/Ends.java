// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.testing;

import io.netty.buffer.ByteBuf;
import io.verbena.PollMode;
import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.hca.LimitedProvider;
import io.verbena.verbs.Capability;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import reactor.core.publisher.Mono;

/**
 * Two transports, one with a server and one with clients. {@code close()} disposes both, which
 * fails if an object of their devices is still open.
 */
public final class Ends implements AutoCloseable {
  /** The time limit for anything in a test. */
  public static final Duration LIMIT = Addresses.within(Duration.ofSeconds(20));

  /** A time limit that tests let expire; even so, a device can open within it on a busy machine. */
  public static final Duration SHORT =
      atLeast(Duration.ofSeconds(2), Addresses.within(Duration.ofMillis(500)));

  /** The time that a busy machine may need for an operation, however fast the HCA is. */
  private static final Duration BUSY = Duration.ofSeconds(10);

  private static final AtomicLong NAMES = new AtomicLong();

  private final RdmaTransport serverSide;
  private final RdmaTransport clientSide;
  private final RdmaServer server;
  private final LinkedBlockingQueue<RdmaConnection> accepted = new LinkedBlockingQueue<>();

  private Ends(RdmaOptions serverOptions, RdmaOptions clientOptions, String query) {
    serverSide = RdmaTransport.create(serverOptions);
    clientSide = RdmaTransport.create(clientOptions);
    server =
        serverSide
            .bind(
                URI.create(Addresses.of("ends-" + NAMES.incrementAndGet()) + query),
                connection -> {
                  accepted.add(connection);
                  return Mono.never();
                })
            .block(LIMIT);
  }

  /** Returns whether the HCA has atomics, which an iWARP RNIC lacks. */
  public static boolean haveAtomics() {
    return have(Capability.ATOMICS);
  }

  /** Returns whether a completion has the peer's status of the request, which it lacks on iWARP. */
  public static boolean haveRequestStatus() {
    return have(Capability.REQUEST_STATUS);
  }

  private static boolean have(Capability capability) {
    return ofDevice(
        Addresses.of("capabilities"), device -> device.attributes().supports(capability));
  }

  /**
   * Returns whether clients link requests: a request that the HCA refuses then costs the
   * connection.
   */
  public static boolean linkRequests() {
    return ofDevice(Addresses.reach(Addresses.of("capabilities")), Device::hasCostlyPosts);
  }

  private static boolean ofDevice(URI address, Predicate<Device> question) {
    try (Device device = VerbsProviders.find(address).open(address)) {
      return question.test(device);
    }
  }

  /**
   * Returns options of event mode, with timeouts for operations that are to succeed. A test that
   * lets one expire sets a short one.
   */
  public static RdmaOptions.Builder options() {
    return RdmaOptions.builder()
        .pollMode(PollMode.EVENT)
        .connectTimeout(atLeast(BUSY, Addresses.within(Duration.ofSeconds(5))))
        .operationTimeout(Addresses.within(Duration.ofSeconds(5)))
        .closeTimeout(atLeast(BUSY, Addresses.within(Duration.ofSeconds(2))));
  }

  private static Duration atLeast(Duration least, Duration limit) {
    return Collections.max(List.of(least, limit));
  }

  public static Ends create() {
    return create(options());
  }

  public static Ends create(RdmaOptions.Builder both) {
    return create(both, both);
  }

  public static Ends create(RdmaOptions.Builder serverOptions, RdmaOptions.Builder clientOptions) {
    return new Ends(serverOptions.build(), clientOptions.build(), "");
  }

  /** Returns the address under which a client reaches the server. */
  public URI address() {
    return Addresses.reach(server.address());
  }

  public RdmaServer server() {
    return server;
  }

  public RdmaTransport serverSide() {
    return serverSide;
  }

  public RdmaTransport clientSide() {
    return clientSide;
  }

  /** Opens a new connection and returns both its ends. */
  public Pair connect() {
    return connect(address());
  }

  /** Opens a new connection whose client has a limited HCA. */
  public Pair connectLimited() {
    return connect(LimitedProvider.limited(server.address()));
  }

  /** Opens a new connection whose client has the HCA of this address. */
  public Pair connect(URI address) {
    RdmaConnection client = clientSide.connect(address).block(LIMIT);
    try {
      RdmaConnection other = accepted.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
      if (client == null || other == null) {
        throw new AssertionError("not connected within " + LIMIT);
      }
      return new Pair(client, other);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    try {
      clientSide.dispose();
    } finally {
      serverSide.dispose();
    }
  }

  /** Returns a registered buffer with {@code length} bytes that depend on {@code seed}. */
  public static ByteBuf message(RdmaConnection connection, int length, long seed) {
    return fill(connection.memory().allocator().directBuffer(Math.max(1, length)), length, seed);
  }

  /** Appends {@code length} bytes that depend on {@code seed}. */
  public static ByteBuf fill(ByteBuf buffer, int length, long seed) {
    byte[] bytes = bytes(length, seed);
    return buffer.writeBytes(bytes);
  }

  /** Returns {@code length} bytes that depend on {@code seed}. */
  public static byte[] bytes(int length, long seed) {
    var random = new SplittableRandom(seed);
    // Filling byte by byte took a fifth of the CPU time of these tests in a guest.
    ByteBuffer words = ByteBuffer.allocate((length + Long.BYTES - 1) / Long.BYTES * Long.BYTES);
    while (words.hasRemaining()) {
      words.putLong(random.nextLong());
    }
    return Arrays.copyOf(words.array(), length);
  }

  /** Returns the readable bytes of a buffer, and releases the buffer. */
  public static byte[] take(ByteBuf buffer) {
    try {
      byte[] bytes = new byte[buffer.readableBytes()];
      buffer.readBytes(bytes);
      return bytes;
    } finally {
      buffer.release();
    }
  }

  /** Both ends of a connection. */
  public record Pair(RdmaConnection client, RdmaConnection server) {}
}
