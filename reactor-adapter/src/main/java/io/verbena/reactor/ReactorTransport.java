// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import static java.util.Objects.requireNonNull;

import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.UnknownSchemeException;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.reactor.cm.ConnectMono;
import io.verbena.reactor.cm.Server;
import io.verbena.reactor.connection.ConnectionContext;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The transport over any verbs provider. A device is opened when the first address needs it; its
 * connections share protection domain, registered memory and completion loops.
 *
 * <p>{@link #dispose} waits until all is closed, within {@link RdmaOptions#closeTimeout}; called
 * from a completion loop, it leaves that to a thread of its own.
 */
final class ReactorTransport implements RdmaTransport {
  private static final int MOST_ROUTES = 1024;
  private static final long ROUTE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private record Route(DeviceLoops loops, long since) {}

  private final RdmaOptions options;
  private final @Nullable DutyCycleInvoker invoker;
  private final VerbsProviders providers = VerbsProviders.load();
  private final Function<URI, Device> devices;
  private final @Nullable Executor allocations;
  private final NameResolver names;
  private final Map<String, DeviceLoops> hcas = new HashMap<>();

  /** Of several devices the one for a host, as finding that out opens one. */
  private final Map<String, Route> routes =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Route> eldest) {
          return size() > MOST_ROUTES;
        }
      };

  private final List<Server> servers = new ArrayList<>();
  private boolean disposed;

  /** Whether a thread is disposing it just now. */
  private boolean disposing;

  /** A transport with threads of its own, over the providers that are present. */
  ReactorTransport(RdmaOptions options) {
    this(options, null, null, null);
  }

  /**
   * @param invoker who gives turns to all that else have threads, or null
   * @param devices opens a device for an address of a provider that is present; null for the
   *     provider itself
   * @param allocations runs what takes too long for a loop; null for a thread of each device's own
   */
  ReactorTransport(
      RdmaOptions options,
      @Nullable DutyCycleInvoker invoker,
      @Nullable Function<URI, Device> devices,
      @Nullable Executor allocations) {
    this.allocations = allocations;
    this.options = requireNonNull(options, "options");
    this.invoker = invoker;
    this.devices = devices == null ? address -> provider(address).open(address) : devices;
    names = new NameResolver(options.connectTimeout());
  }

  @Override
  public RdmaOptions options() {
    return options;
  }

  @Override
  public Mono<RdmaConnection> connect(URI address) {
    requireNonNull(address, "address");
    long timeout = options.connectTimeout().toNanos();
    return Mono.defer(
        () -> {
          Supplier<URI> lookup = provider(address).lookup(address);
          if (lookup == null) {
            return connectTo(address, timeout);
          }
          long start = System.nanoTime();
          return names
              .resolve("connect", address, lookup)
              .flatMap(
                  resolved ->
                      connectTo(resolved, Math.max(1, timeout - (System.nanoTime() - start))));
        });
  }

  private Mono<RdmaConnection> connectTo(URI address, long timeoutNanos) {
    return new ConnectMono(address, timeoutNanos, () -> context(address));
  }

  private ConnectionContext context(URI address) {
    DeviceLoops hca = hca("connect", address);
    try {
      return hca.context();
    } catch (VerbsException e) {
      throw new RdmaConnectException(
          "connect", address.toString(), "no loop in place of one that broke down", e);
    }
  }

  @Override
  public Mono<RdmaServer> bind(
      URI address, Function<RdmaConnection, ? extends Publisher<Void>> handler) {
    requireNonNull(address, "address");
    requireNonNull(handler, "handler");
    return Mono.defer(
        () -> {
          Supplier<URI> lookup = provider(address).lookup(address);
          return lookup == null
              ? Mono.fromSupplier(() -> listen(address, handler))
              : names.resolve("bind", address, lookup).map(resolved -> listen(resolved, handler));
        });
  }

  private RdmaServer listen(
      URI address, Function<RdmaConnection, ? extends Publisher<Void>> handler) {
    DeviceLoops hca = hca("bind", address);
    try {
      Server server = new Server(address, hca.dispatcher(), hca::context, hca.memory(), handler);
      if (!keep(server)) {
        server.dispose();
        throw disposed("bind", server.address());
      }
      return server;
    } catch (VerbsException e) {
      throw new RdmaConnectException(
          "bind",
          address.toString(),
          e.error() == VerbsError.ADDRESS_IN_USE
              ? "somebody listens there already"
              : "the address cannot be listened on",
          e);
    }
  }

  /** Keeps a server that {@link #dispose} is to close; returns false if that has been. */
  private synchronized boolean keep(Server server) {
    if (disposed) {
      return false;
    }
    servers.removeIf(Server::isDisposed);
    return servers.add(server);
  }

  private static RdmaConnectException disposed(String operation, URI address) {
    return new RdmaConnectException(operation, address.toString(), "the transport was disposed");
  }

  @Override
  public RdmaMemory memory(URI address) {
    Supplier<URI> lookup = provider(requireNonNull(address, "address")).lookup(address);
    if (lookup == null) {
      return hca("memory", address).memory();
    }
    if (Schedulers.isInNonBlockingThread()) {
      // As Reactor's own block() does.
      throw new IllegalStateException(
          "memory: looking up the host of "
              + address
              + " would block "
              + Thread.currentThread().getName()
              + " (expected: an IP address, or a thread that may block); RdmaConnection.memory()"
              + " and RdmaServer.memory() need no look-up");
    }
    try {
      return hca("memory", names.resolve("memory", address, lookup).toFuture().join()).memory();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RdmaException failure ? failure : e;
    }
  }

  private synchronized DeviceLoops hca(String operation, URI address) {
    if (disposed) {
      throw disposed(operation, address);
    }
    VerbsProvider provider = provider(address);
    Route route = routes.get(routeKey(address));
    if (route != null && System.nanoTime() - route.since < ROUTE_NANOS) {
      return route.loops;
    }
    // Options stand in the query: another query may be another device.
    String query = Objects.toString(address.getRawQuery(), "");
    String scheme = provider.scheme().toLowerCase(Locale.ROOT);
    boolean single = provider.deviceNames().size() <= 1;
    DeviceLoops known = single ? hcas.get(scheme + '?' + query) : null;
    if (known != null) {
      return known;
    }
    try {
      Device device = devices.apply(address);
      String key =
          single ? scheme + '?' + query : scheme + '/' + device.attributes().name() + '?' + query;
      known = hcas.get(key);
      if (known == null) {
        known = new DeviceLoops(scheme, device, options, invoker, allocations);
        hcas.put(key, known);
      } else {
        device.close();
      }
      if (!single) {
        routes.put(routeKey(address), new Route(known, System.nanoTime()));
      }
      return known;
    } catch (VerbsException e) {
      throw new RdmaConnectException(
          operation, address.toString(), "no device can be opened for it", e);
    }
  }

  private static String routeKey(URI address) {
    return address.getScheme() + "://" + address.getHost() + '?' + address.getRawQuery();
  }

  private VerbsProvider provider(URI address) {
    try {
      return providers.of(address);
    } catch (VerbsException e) {
      throw new UnknownSchemeException(e.getMessage());
    }
  }

  @Override
  public void dispose() {
    List<DeviceLoops> toClose;
    synchronized (this) {
      if (disposing) {
        return;
      }
      disposing = true;
      disposed = true;
      toClose = List.copyOf(hcas.values());
      routes.clear();
    }
    names.dispose();
    // A loop must not wait for another one, which may be waiting for it.
    boolean inLoop = Thread.currentThread() instanceof LoopThread;
    for (DeviceLoops hca : toClose) {
      inLoop |= hca.inLoop();
    }
    if (inLoop) {
      new Thread(() -> close(toClose), "verbena-dispose").start();
    } else {
      close(toClose);
    }
  }

  /** Closes servers and devices; forgets those that are closed. */
  private void close(List<DeviceLoops> toClose) {
    RuntimeException failure;
    try {
      failure = closeServers();
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
      synchronized (this) {
        disposing = false;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  private @Nullable RuntimeException closeServers() {
    List<Server> listening;
    synchronized (this) {
      listening = List.copyOf(servers);
      servers.clear();
    }
    RuntimeException failure = null;
    for (Server server : listening) {
      try {
        server.dispose();
      } catch (RuntimeException e) {
        failure = failure == null ? e : failure;
        synchronized (this) {
          servers.add(server);
        }
      }
    }
    return failure;
  }

  private synchronized void forget(DeviceLoops hca) {
    hcas.values().remove(hca);
  }

  @Override
  public synchronized boolean isDisposed() {
    return disposed;
  }
}
