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
 * The devices of a transport. A device is opened when the first address needs it, on a thread other
 * than the loops'; its connections share protection domain, registered memory and completion loops.
 * A device that has failed is opened again for the next address; the failed one is closed once it
 * is unused. Thread-safe.
 */
final class OpenDevices {
  private static final Logger LOG = Loggers.getLogger(OpenDevices.class);
  private static final int MOST_ROUTES = 1024;
  private static final long ROUTE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private record Route(DeviceLoops loops, long since) {
    /**
     * Returns whether the route is old enough that another device may be the right one after a
     * failed connect.
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

  /** Locks by scheme and query of an address; held while a device for such an address is opened. */
  private final Map<String, Object> openingLocks = new ConcurrentHashMap<>();

  private final Map<String, DeviceLoops> hcas = new HashMap<>();

  /** Failed devices that were opened again, but could not be closed yet. */
  private final List<DeviceLoops> failedHcas = new ArrayList<>();

  /** Held while {@link #failedHcas} are closed, as several devices may be opened at once. */
  private final ReentrantLock closingFailed = new ReentrantLock();

  /** Routes to hosts that one of several devices reaches; kept, as finding one opens a device. */
  private final Map<String, Route> routes =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Route> eldest) {
          return size() > MOST_ROUTES;
        }
      };

  private boolean disposed;

  /** Whether a thread is between {@link #beginDispose} and {@link #endDispose}. */
  private boolean disposing;

  /**
   * @param invoker invokes the duty cycles of loops and dispatchers in place of threads, or null
   * @param providers the available providers
   * @param opener opens the device for an address; null to open it by the address's provider
   * @param allocations runs allocations that would take a loop too long; null for a thread for each
   *     device
   * @param direct allocates the memory to register
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

  /**
   * Returns the provider of the address's scheme.
   *
   * @throws UnknownSchemeException if there is none
   */
  VerbsProvider provider(URI address) {
    try {
      return providers.of(address);
    } catch (VerbsException e) {
      throw new UnknownSchemeException(e.getMessage());
    }
  }

  /**
   * Returns the working device for an address, or null if it is not open.
   *
   * @throws RdmaConnectException if the transport was disposed
   */
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

  /** Returns whether the device for an address is one of several, chosen by the host. */
  synchronized boolean isRouted(URI address) {
    return routes.containsKey(routeKey(address));
  }

  /**
   * Forgets an old route after a failed connect, as another device may reach the host by now; the
   * next connect finds out by opening one.
   */
  synchronized void forgetRoute(URI address) {
    Route route = routes.get(routeKey(address));
    if (route != null && route.isOld()) {
      routes.remove(routeKey(address));
    }
  }

  /**
   * Returns a Mono of the device for an address, opened on a thread that may block; with an
   * invoker, on the thread that subscribes.
   */
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

  /**
   * Returns the device for an address; opens it if needed, once for all concurrent calls. May
   * block.
   *
   * @throws RdmaConnectException if no device can be opened, or the transport was disposed
   */
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
   * Closes failed devices, unless another thread does so. A device that is still in use is tried
   * again by the next call.
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

  /** Adds an open device; returns false if the transport was disposed. */
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

  /** Closes a device that was opened while the transport was disposed. */
  private static void closeUnused(DeviceLoops loops) {
    try {
      loops.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns the key of the only device of a scheme: scheme and query. Options are in the query, so
   * another query may mean another device.
   */
  private static String singleKey(URI address) {
    return scheme(address) + '?' + Objects.toString(address.getRawQuery(), "");
  }

  /** Returns the key of a device in {@link #hcas}; closes the device if that throws. */
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
   * Returns whether a device serves only the hosts that its port reaches: an option may belong to
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
   * Starts to dispose of the devices: no further one is opened.
   *
   * @return the devices to {@link #close} before {@link #endDispose}; null if another thread is
   *     disposing of them
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
   * Waits for devices that are being opened; the thread that opens one closes it then.
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
   * Closes devices, and removes those that were closed.
   *
   * @param before an earlier failure, or null
   * @return the first failure, with the others suppressed, or null
   */
  @Nullable RuntimeException close(List<DeviceLoops> toClose, @Nullable RuntimeException before) {
    RuntimeException failure = before;
    // A thread that opens a device may still be closing one of them.
    closingFailed.lock();
    try {
      for (DeviceLoops hca : toClose) {
        try {
          hca.close();
          forget(hca);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          failure =
              both(
                  failure,
                  new IllegalStateException("interrupted while disposing the transport", e));
        } catch (RuntimeException e) {
          failure = both(failure, e);
        }
      }
    } finally {
      closingFailed.unlock();
    }
    return failure;
  }

  private static RuntimeException both(@Nullable RuntimeException first, RuntimeException next) {
    if (first == null) {
      return next;
    }
    if (first != next) {
      first.addSuppressed(next);
    }
    return first;
  }

  private synchronized void forget(DeviceLoops hca) {
    hcas.values().remove(hca);
    failedHcas.remove(hca);
  }

  /** Ends the dispose; another one may close the devices that are left. */
  synchronized void endDispose() {
    disposing = false;
  }
}
