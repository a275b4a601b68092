// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.testing.hca;

import io.verbena.core.testing.Addresses;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A provider for {@code limited://name}, which reaches the same addresses as {@code
 * emulated://name}.
 */
public final class LimitedProvider implements VerbsProvider {
  /** The longest message of a limited HCA, in bytes. */
  public static final int LONGEST_MESSAGE = 10_000;

  private static final String SCHEME = "limited";

  /** While this is set, polls find no completions of READs and atomics. */
  private static final AtomicBoolean HELD = new AtomicBoolean();

  private static final AtomicInteger HELD_POLLS = new AtomicInteger();
  private static final ConcurrentHashMap<Thread, Error> DEADLY = new ConcurrentHashMap<>();
  private static final String REFUSALS = "refusals=";
  private static final String FAULT = "fault=";

  /** Throws {@code error} at the next poll by this thread, so that its loop breaks down. */
  public static void breakLoop(Thread loop, Error error) {
    DEADLY.put(loop, error);
  }

  static void throwHere() {
    Error error = DEADLY.remove(Thread.currentThread());
    if (error != null) {
      throw error;
    }
  }

  /** Sets whether completions are held back. */
  public static void hold(boolean on) {
    HELD_POLLS.set(0);
    HELD.set(on);
  }

  /** Returns how many polls there were since completions are held back. */
  public static int heldPolls() {
    return HELD_POLLS.get();
  }

  /** Returns whether a poll must find nothing. */
  static boolean holdsBack() {
    boolean held = HELD.get();
    if (held) {
      HELD_POLLS.incrementAndGet();
    }
    return held;
  }

  /** Returns the same address, on a limited HCA. */
  public static URI limited(URI address) {
    return URI.create(SCHEME + "://" + address.getRawAuthority());
  }

  /**
   * Returns an address on an HCA each of whose objects refuses {@code refusals} times to be closed.
   */
  public static URI refusing(URI address, int refusals) {
    return URI.create(limited(address) + "?" + REFUSALS + refusals);
  }

  /** Returns an address on an HCA that throws at a place, once. */
  public static URI faulty(URI address, Fault.Place place, Fault.Kind kind) {
    return URI.create(limited(address) + "?" + FAULT + place + '.' + kind);
  }

  static URI plain(URI address) {
    return Addresses.plain(address);
  }

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public List<String> deviceNames() {
    return List.of("limited0");
  }

  @Override
  public Device open(URI address) {
    URI plain = plain(address);
    String query = address.getQuery();
    boolean refuses = query != null && query.startsWith(REFUSALS);
    return new LimitedDevice(
        VerbsProviders.find(plain).open(plain),
        refuses ? Integer.parseInt(query.substring(REFUSALS.length())) : 0,
        fault(query));
  }

  private static Fault fault(@Nullable String query) {
    if (query == null || !query.startsWith(FAULT)) {
      return new Fault(Fault.Place.NOWHERE, Fault.Kind.EXCEPTION);
    }
    int dot = query.indexOf('.');
    return new Fault(
        Fault.Place.valueOf(query.substring(FAULT.length(), dot)),
        Fault.Kind.valueOf(query.substring(dot + 1)));
  }
}
