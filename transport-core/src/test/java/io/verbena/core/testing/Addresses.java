// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.testing;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Addresses on the HCA that these tests run on: the emulated one, or with {@code
 * -Dverbena.test.hca=disni://10.0.0.1} ports of that host, or with {@code roce://127.0.0.0} those
 * of an address of that network, which no other JVM has, or with {@code shm://tests} names that no
 * other JVM has. With {@code -Dverbena.test.from=roce://10.0.0.3} those who connect have another
 * HCA, at that address. Nothing else in the tests knows which.
 */
public final class Addresses {
  private static final String EMULATED = "emulated";
  private static final String SHARED_MEMORY = "shm";
  private static final URI HCA =
      URI.create(System.getProperty("verbena.test.hca", EMULATED + "://hca"));

  /** The HCA of those who connect, where it is another than that of those who listen. */
  private static final @Nullable String FROM = System.getProperty("verbena.test.from");

  private static final String LOOPBACKS = "127.0.0.0";

  /** The networks of loopback of a JVM's two HCAs, 64 of each kind. */
  private static final int HOST = 64;

  private static final int ANOTHER_HOST = 128;

  /** The options behind each address; empty, or from its question mark on. */
  private static final String OPTIONS = HCA.getRawQuery() == null ? "" : "?" + HCA.getRawQuery();

  /** The factor by which anything may take longer than on the emulated HCA. */
  private static final int PATIENCE = Integer.getInteger("verbena.test.patience", 1);

  /** Of what is repeated to meet rare moments, how many per cent are done. */
  private static final int ROUNDS = Integer.getInteger("verbena.test.rounds", 100);

  private static final AtomicInteger NEXT_PORT = new AtomicInteger(20_000);
  private static final ConcurrentHashMap<String, Integer> PORTS = new ConcurrentHashMap<>();

  /** Whether the network loses packets. */
  private static final boolean LOSSY = !"0".equals(System.getProperty("verbena.test.loss", "0"));

  private Addresses() {}

  /** The scheme of the HCA. */
  public static String scheme() {
    return HCA.getScheme();
  }

  /** Returns whether it is the emulated one. */
  public static boolean areEmulated() {
    return EMULATED.equals(HCA.getScheme());
  }

  /**
   * Returns whether packets are lost on the way between HCAs, so that what was sent may come only
   * when it is repeated.
   */
  public static boolean areLossy() {
    return LOSSY;
  }

  /** An address: the same for the same name. */
  public static URI of(String name) {
    String authority =
        areEmulated()
            ? name
            : host() + ":" + PORTS.computeIfAbsent(name, n -> NEXT_PORT.getAndIncrement());
    return URI.create(HCA.getScheme() + "://" + authority + OPTIONS);
  }

  /**
   * The HCA of another host, for who connects to {@link #of} the same name; the same one where
   * there is only one.
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
   * An HCA of its own for each JVM: who shares an address shares its UDP port. None ends in 255,
   * where Java has no sockets.
   */
  private static String host(int networks) {
    long pid = ProcessHandle.current().pid();
    long network = pid / 255;
    return "127." + (networks + (network >>> 8 & 0x3f)) + "." + (network & 0xff) + "." + pid % 255;
  }

  /** Returns how those who connect reach an address that is listened on. */
  public static URI reach(URI address) {
    return FROM == null ? address : from(URI.create(FROM), address);
  }

  /** The same, of an address whose scheme is not that of an HCA. */
  public static URI plain(URI address) {
    return FROM == null
        ? URI.create(HCA.getScheme() + "://" + address.getRawAuthority() + OPTIONS)
        : from(URI.create(FROM), address);
  }

  private static URI from(URI hca, URI address) {
    return URI.create(
        hca.getScheme() + "://" + address.getRawAuthority() + "?source=" + hca.getHost());
  }

  /** A limit for what is to succeed, longer where the HCA is slow. */
  public static Duration within(Duration limit) {
    return limit.multipliedBy(PATIENCE);
  }

  /**
   * Returns how long a client that may use TCP tries RDMA: in the first moments of a JVM on a busy
   * machine the default, half a second, may be too short.
   */
  public static Duration timeForRdma() {
    return within(Duration.ofSeconds(10));
  }

  /**
   * Returns how often to repeat what is repeated {@code full} times where the HCA is quick; at
   * least 1.
   */
  public static int rounds(int full) {
    return (int) Math.max(1, (long) full * ROUNDS / 100);
  }
}
