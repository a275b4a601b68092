// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.testing.hca;

import io.verbena.core.testing.Addresses;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A provider for {@code named://name}, which reaches the same addresses as {@code emulated://name}
 * after a lookup of the name. A test sets how long the lookup takes.
 */
public final class NamedProvider implements VerbsProvider {
  private static final String SCHEME = "named";
  private static final String RESOLVED = "resolved";
  private static final Duration LONGEST = Addresses.within(Duration.ofSeconds(60));
  private static final ConcurrentHashMap<String, CountDownLatch> HELD = new ConcurrentHashMap<>();
  private static final ConcurrentHashMap<String, CountDownLatch> CLOSED_DOORS =
      new ConcurrentHashMap<>();
  private static final ConcurrentHashMap<String, Queue<Thread>> OPENERS = new ConcurrentHashMap<>();

  /** Returns the same address, as a name. */
  public static URI named(URI address) {
    return URI.create(SCHEME + "://" + address.getRawAuthority());
  }

  /** Returns the same address, as an unknown name. */
  public static URI unknown(URI address) {
    return URI.create(named(address) + "?unknown");
  }

  /** A method of the provider. */
  public enum ProviderMethod {
    LOOKUP,
    FIND,
    OPEN
  }

  /** Returns the same address, for which a method throws. */
  public static URI hostile(URI address, ProviderMethod method, Fault.Kind kind) {
    return URI.create(named(address) + "?" + method + "." + kind);
  }

  private static void throwAt(ProviderMethod method, URI address) {
    String query = address.getRawQuery();
    if (query != null && query.startsWith(method + ".")) {
      Fault.Kind.valueOf(query.substring(query.indexOf('.') + 1)).raise();
    }
  }

  /** Makes lookups of an address wait until the latch that is returned is counted down. */
  public static CountDownLatch hold(URI named) {
    CountDownLatch latch = new CountDownLatch(1);
    HELD.put(named.getRawAuthority(), latch);
    return latch;
  }

  /** Makes the opening of a device for an address wait until the latch is counted down. */
  public static CountDownLatch holdOpening(URI named) {
    CountDownLatch latch = new CountDownLatch(1);
    CLOSED_DOORS.put(named.getRawAuthority(), latch);
    return latch;
  }

  /** Returns the threads that opened a device for an address, once per call. */
  public static Queue<Thread> openers(URI named) {
    return OPENERS.computeIfAbsent(named.getRawAuthority(), n -> new ConcurrentLinkedQueue<>());
  }

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public List<String> deviceNames() {
    return List.of("limited0", "limited1");
  }

  @Override
  public @Nullable Supplier<URI> lookup(URI address) {
    throwAt(ProviderMethod.LOOKUP, address);
    String query = address.getRawQuery();
    return RESOLVED.equals(query) || (query != null && query.startsWith(ProviderMethod.OPEN + "."))
        ? null
        : () -> find(address);
  }

  private static URI find(URI address) {
    throwAt(ProviderMethod.FIND, address);
    await(HELD.get(address.getRawAuthority()));
    if ("unknown".equals(address.getRawQuery())) {
      throw new VerbsException(VerbsError.INVALID, "address: " + address + ": unknown host");
    }
    return URI.create(named(address) + "?" + RESOLVED);
  }

  private static void await(@Nullable CountDownLatch latch) {
    try {
      if (latch != null && !latch.await(LONGEST.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("held for " + LONGEST);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public Device open(URI address) {
    throwAt(ProviderMethod.OPEN, address);
    openers(address).add(Thread.currentThread());
    await(CLOSED_DOORS.get(address.getRawAuthority()));
    Supplier<URI> lookup = lookup(address);
    URI plain = Addresses.plain(lookup == null ? address : lookup.get());
    return new LimitedDevice(
        VerbsProviders.find(plain).open(plain),
        0,
        new Fault(Fault.Place.NOWHERE, Fault.Kind.EXCEPTION));
  }
}
