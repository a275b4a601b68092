// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.testing;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Addresses on the HCA under test; no other test code knows which HCA that is. The default is the
 * emulated HCA. {@code -Dverbena.test.hca=disni://10.0.0.1} selects ports of that host, {@code
 * roce://127.0.0.0} an address in that network that no other JVM has, and {@code shm://tests} names
 * that no other JVM has. With {@code -Dverbena.test.from=roce://10.0.0.3} clients use another HCA,
 * at that address.
 */
public final class Addresses {
  private static final String EMULATED = "emulated";
  private static final String SHARED_MEMORY = "shm";
  private static final URI HCA =
      URI.create(System.getProperty("verbena.test.hca", EMULATED + "://hca"));

  /** The HCA of clients if it differs from that of servers. */
  private static final @Nullable String FROM = System.getProperty("verbena.test.from");

  private static final String LOOPBACKS = "127.0.0.0";

  /** The second byte of the loopback networks for a JVM's two HCAs, 64 networks for each. */
  private static final int HOST = 64;

  private static final int ANOTHER_HOST = 128;

  /** The options of each address: empty, or starting with a question mark. */
  private static final String OPTIONS = HCA.getRawQuery() == null ? "" : "?" + HCA.getRawQuery();

  /** The factor by which a slow HCA may exceed time limits for the emulated one. */
  private static final int PATIENCE = Integer.getInteger("verbena.test.patience", 1);

  /** Percentage of the rounds of tests that repeat an operation to meet rare moments. */
  private static final int ROUNDS = Integer.getInteger("verbena.test.rounds", 100);

  private static final AtomicInteger NEXT_PORT = new AtomicInteger(20_000);
  private static final ConcurrentHashMap<String, Integer> PORTS = new ConcurrentHashMap<>();

  /** Whether the network loses packets. */
  private static final boolean LOSSY = !"0".equals(System.getProperty("verbena.test.loss", "0"));

  private Addresses() {}

  /** Returns the scheme of the HCA. */
  public static String scheme() {
    return HCA.getScheme();
  }

  /** Returns whether the HCA is the emulated one. */
  public static boolean areEmulated() {
    return EMULATED.equals(HCA.getScheme());
  }

  /**
   * Returns whether the network between HCAs loses packets, so that messages may arrive only after
   * a retransmission.
   */
  public static boolean areLossy() {
    return LOSSY;
  }

  /** Returns the address for a name, always the same one. */
  public static URI of(String name) {
    String authority =
        areEmulated()
            ? name
            : host() + ":" + PORTS.computeIfAbsent(name, n -> NEXT_PORT.getAndIncrement());
    return URI.create(HCA.getScheme() + "://" + authority + OPTIONS);
  }

  /**
   * Returns the HCA of another host, for clients of the address {@link #of} this name; the same HCA
   * if there is only one.
   */
  public static URI ofAnotherHost(String name) {
    return LOOPBACKS.equals(HCA.getHost())
        ? URI.create(HCA.getScheme() + "://" + host(ANOTHER_HOST) + OPTIONS)
        : of(name);
  }

  private static String host() {
    if (SHARED_MEMORY.equals(HCA.getScheme())) {
      return HCA.getHost() + "-" + ProcessHandle.current().pid();
    }
    return LOOPBACKS.equals(HCA.getHost()) ? host(HOST) : HCA.getHost();
  }

  /**
   * Returns a host for each JVM alone, because users of one address share a UDP port. None ends in
   * 255, where Java opens no sockets.
   */
  private static String host(int networks) {
    long pid = ProcessHandle.current().pid();
    long network = pid / 255;
    return "127." + (networks + (network >>> 8 & 0x3f)) + "." + (network & 0xff) + "." + pid % 255;
  }

  /** Returns the address by which clients reach a listener. */
  public static URI reach(URI address) {
    return FROM == null ? address : from(URI.create(FROM), address);
  }

  /** Returns the address by which clients reach a listener whose scheme is not that of an HCA. */
  public static URI plain(URI address) {
    return FROM == null
        ? URI.create(HCA.getScheme() + "://" + address.getRawAuthority() + OPTIONS)
        : from(URI.create(FROM), address);
  }

  private static URI from(URI hca, URI address) {
    return URI.create(
        hca.getScheme() + "://" + address.getRawAuthority() + "?source=" + hca.getHost());
  }

  /** Returns a time limit for an operation that should succeed; longer for a slow HCA. */
  public static Duration within(Duration limit) {
    return limit.multipliedBy(PATIENCE);
  }

  /**
   * Returns how long a client with fallback to TCP tries RDMA. The default of half a second may be
   * too short when a JVM has just started on a busy machine.
   */
  public static Duration timeForRdma() {
    return within(Duration.ofSeconds(10));
  }

  /** Returns the rounds of a test that runs {@code full} rounds on a fast HCA; at least 1. */
  public static int rounds(int full) {
    return (int) Math.max(1, (long) full * ROUNDS / 100);
  }
}
