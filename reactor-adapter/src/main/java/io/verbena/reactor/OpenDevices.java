// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import io.verbena.RdmaConnectException;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTimeoutException;
import io.verbena.UnknownSchemeException;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.core.memory.DirectMemory;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.Logger;
import reactor.util.Loggers;

/**
 * The devices of a transport. One is opened when the first address needs it, off the loops; its
 * connections share protection domain, registered memory and completion loops. One that has failed
 * is opened again for the next address, and closed once it is unused. Thread-safe.
 */
final class OpenDevices {
  private static final Logger LOG = Loggers.getLogger(OpenDevices.class);
  private static final int MOST_ROUTES = 1024;
  private static final long ROUTE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private record Route(DeviceLoops loops, long since) {
    /**
     * Returns whether it is old enough that after a failure another device may be the right one.
     */
    boolean isOld() {
      return System.nanoTime() - since >= ROUTE_NANOS;
    }
  }

  private final RdmaOptions options;
  private final @Nullable DutyCycleInvoker invoker;
  private final VerbsProviders providers;
  private final Function<URI, Device> opener;
  private final @Nullable Executor allocations;
  private final DirectMemory direct;
  private final Lookups<DeviceLoops> openings = new Lookups<>("device-opening-of-verbena");

  /** One for each device, or for all of a provider: held while one of them is opened. */
  private final Map<String, Object> openingLocks = new ConcurrentHashMap<>();

  private final Map<String, DeviceLoops> hcas = new HashMap<>();

  /** Devices that have failed, and were opened again, as far as they could not be closed yet. */
  private final List<DeviceLoops> failedHcas = new ArrayList<>();

  /** Held by the thread that closes those: devices of several addresses may be opened at once. */
  private final ReentrantLock closingFailed = new ReentrantLock();

  /** Of several devices the one for a host, as finding that out opens one. */
  private final Map<String, Route> routes =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Route> eldest) {
          return size() > MOST_ROUTES;
        }
      };

  private boolean disposed;

  /** Whether a thread is disposing of them just now. */
  private boolean disposing;

  /**
   * @param invoker who gives turns to all that else have threads, or null
   * @param providers those that are present
   * @param opener opens a device for an address of a provider that is present; null for the
   *     provider itself
   * @param allocations runs what takes too long for a loop; null for a thread of each device's own
   * @param direct what registered memory is made of
   */
  OpenDevices(
      RdmaOptions options,
      @Nullable DutyCycleInvoker invoker,
      VerbsProviders providers,
      @Nullable Function<URI, Device> opener,
      @Nullable Executor allocations,
      DirectMemory direct) {
    this.options = options;
    this.invoker = invoker;
    this.providers = providers;
    this.opener = opener == null ? address -> provider(address).open(address) : opener;
    this.allocations = allocations;
    this.direct = direct;
  }

  /** The provider of the address's scheme. */
  VerbsProvider provider(URI address) {
    try {
      return providers.of(address);
    } catch (VerbsException e) {
      throw new UnknownSchemeException(e.getMessage());
    }
  }

  /** The device for an address, if it is open. */
  synchronized @Nullable DeviceLoops known(String operation, URI address) {
    if (disposed) {
      throw disposed(operation, address);
    }
    Route route = routes.get(routeKey(address));
    return working(route == null ? hcas.get(singleKey(address)) : route.loops);
  }

  private static @Nullable DeviceLoops working(@Nullable DeviceLoops loops) {
    return loops == null || loops.haveFailed() ? null : loops;
  }

  /** Returns whether it was one of several devices that led to the host of an address. */
  synchronized boolean isRouted(URI address) {
    return routes.containsKey(routeKey(address));
  }

  /** A connect failed: another device may lead there by now, which is found out by opening one. */
  synchronized void forgetRoute(URI address) {
    Route route = routes.get(routeKey(address));
    if (route != null && route.isOld()) {
      routes.remove(routeKey(address));
    }
  }

  /** The device for an address, opened on a thread that may take its time. */
  Mono<DeviceLoops> opened(String operation, URI address, Duration timeout) {
    if (invoker != null) {
      return Mono.fromSupplier(() -> open(operation, address));
    }
    String peer = address.toString();
    return openings
        .find(
            routeKey(address),
            singleKey(address),
            () -> open(operation, address),
            timeout,
            () -> new RdmaTimeoutException(operation, peer, "no device was open within " + timeout))
        .onErrorMap(
            RejectedExecutionException.class,
            e ->
                openings.isDisposed()
                    ? disposed(operation, address)
                    : new RdmaConnectException(
                        operation, peer, "too many devices wait to be opened", e));
  }

  /** Returns the device for an address; opens it, once for all calls at the same time. */
  DeviceLoops open(String operation, URI address) {
    VerbsProvider provider = provider(address);
    String single = singleKey(address);
    synchronized (openingLocks.computeIfAbsent(single, key -> new Object())) {
      DeviceLoops known = known(operation, address);
      if (known != null) {
        return known;
      }
      try {
        closeFailed();
        boolean isOnly = provider.deviceNames().size() <= 1;
        Device device = opener.apply(address);
        String key = keyOrClose(device, address, isOnly);
        boolean isSingle = key.equals(single);
        DeviceLoops other = known(key);
        DeviceLoops loops =
            other == null
                ? new DeviceLoops(scheme(address), device, options, invoker, allocations, direct)
                : other;
        if (other != null) {
          device.close();
        }
        if (!keep(key, loops, isSingle ? null : routeKey(address))) {
          if (other == null) {
            closeUnused(loops);
          }
          throw disposed(operation, address);
        }
        return loops;
      } catch (RdmaException e) {
        throw e;
      } catch (VerbsException e) {
        throw new RdmaConnectException(
            operation, address.toString(), "no device can be opened for it", e);
      } catch (Throwable e) {
        throw new RdmaConnectException(
            operation, address.toString(), "opening a device for it threw " + e, e);
      }
    }
  }

  private synchronized @Nullable DeviceLoops known(String key) {
    return working(hcas.get(key));
  }

  /**
   * Closes the devices that have failed, unless another thread does so; one that is still used is
   * left for the next time.
   */
  private void closeFailed() {
    // The thread that invokes the loops must not wait for them.
    if (invoker != null || !closingFailed.tryLock()) {
      return;
    }
    try {
      List<DeviceLoops> failed;
      synchronized (this) {
        failed = List.copyOf(failedHcas);
      }
      for (DeviceLoops hca : failed) {
        try {
          hca.close();
          forget(hca);
        } catch (VerbsException e) {
          LOG.debug("a device that has failed cannot be closed yet", e);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      closingFailed.unlock();
    }
  }

  /** Keeps an open device until all are disposed of; returns false if they have been. */
  private synchronized boolean keep(String key, DeviceLoops loops, @Nullable String route) {
    if (disposed) {
      return false;
    }
    DeviceLoops before = hcas.put(key, loops);
    if (before != null && before != loops) {
      failedHcas.add(before);
    }
    if (route != null) {
      routes.put(route, new Route(loops, System.nanoTime()));
    }
    return true;
  }

  /** The transport was disposed while it opened a device. */
  private static void closeUnused(DeviceLoops loops) {
    try {
      loops.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Options stand in the query: another query may be another device. */
  private static String singleKey(URI address) {
    return scheme(address) + '?' + Objects.toString(address.getRawQuery(), "");
  }

  /** Returns what tells a device from the others; closes it if it does not answer. */
  private static String keyOrClose(Device device, URI address, boolean isOnly) {
    boolean answered = false;
    try {
      String key =
          isOnly && !isOfOnePort(device, address) ? singleKey(address) : deviceKey(device, address);
      answered = true;
      return key;
    } finally {
      if (!answered) {
        device.close();
      }
    }
  }

  private static String deviceKey(Device device, URI address) {
    return scheme(address)
        + '/'
        + device.attributes().name()
        + (isOfOnePort(device, address) ? "/" + device.port().number() : "")
        + '?'
        + Objects.toString(address.getRawQuery(), "");
  }

  /**
   * Returns whether a device serves only the hosts that its port leads to: an option may belong to
   * the port, as a GID does. Without options any port will do, as the route chooses one for each
   * connection.
   */
  private static boolean isOfOnePort(Device device, URI address) {
    return address.getRawQuery() != null && device.portCount() > 1;
  }

  private static String scheme(URI address) {
    return address.getScheme().toLowerCase(Locale.ROOT);
  }

  private static String routeKey(URI address) {
    return address.getScheme() + "://" + address.getHost() + '?' + address.getRawQuery();
  }

  static RdmaConnectException disposed(String operation, URI address) {
    return new RdmaConnectException(operation, address.toString(), "the transport was disposed");
  }

  synchronized boolean isDisposed() {
    return disposed;
  }

  /**
   * Refuses to open further devices.
   *
   * @return those to {@link #close}, until {@link #endDispose}; null if another thread is at it
   */
  @Nullable List<DeviceLoops> beginDispose() {
    List<DeviceLoops> toClose;
    synchronized (this) {
      if (disposing) {
        return null;
      }
      disposing = true;
      disposed = true;
      toClose = new ArrayList<>(hcas.values());
      toClose.addAll(failedHcas);
      routes.clear();
    }
    openings.dispose();
    return toClose;
  }

  /**
   * Waits for openings under way: the thread that opens a device closes it then.
   *
   * @return the error if that takes too long, or null
   */
  @Nullable RuntimeException awaitOpenings() {
    try {
      if (!openings.awaitEnd(DeviceLoops.patience(options))) {
        return new VerbsException(
            VerbsError.BUSY, "close: a device is being opened; try again when that has ended");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return null;
  }

  /**
   * Closes devices; forgets those that are closed.
   *
   * @param before what went wrong before, or null
   * @return what went wrong first, or null
   */
  @Nullable RuntimeException close(List<DeviceLoops> toClose, @Nullable RuntimeException before) {
    RuntimeException failure = before;
    // A thread that opens a device still may be closing one of them.
    closingFailed.lock();
    try {
      for (DeviceLoops hca : toClose) {
        try {
          hca.close();
          forget(hca);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          failure = new IllegalStateException("interrupted while disposing the transport", e);
        } catch (RuntimeException e) {
          failure = failure == null ? e : failure;
        }
      }
    } finally {
      closingFailed.unlock();
    }
    return failure;
  }

  private synchronized void forget(DeviceLoops hca) {
    hcas.values().remove(hca);
    failedHcas.remove(hca);
  }

  /** Lets another call dispose of what is left. */
  synchronized void endDispose() {
    disposing = false;
  }
}
