// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import static java.util.Objects.requireNonNull;

import io.verbena.AcceptHook;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTimeoutException;
import io.verbena.RdmaTransport;
import io.verbena.UnknownSchemeException;
import io.verbena.core.cm.ConnectionSlots;
import io.verbena.core.cm.ProgramData;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.core.medium.Media;
import io.verbena.core.memory.DirectMemory;
import io.verbena.reactor.cm.ConnectMono;
import io.verbena.reactor.cm.MediaServer;
import io.verbena.reactor.cm.Server;
import io.verbena.reactor.connection.ConnectionContext;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.Logger;
import reactor.util.Loggers;

/**
 * The transport over any verbs provider. A device is opened when the first address needs it, off
 * the loops; its connections share protection domain, registered memory and completion loops.
 *
 * <p>{@link #dispose} waits until all is closed, within {@link RdmaOptions#closeTimeout}; called
 * from a completion loop, it leaves that to a thread of its own.
 */
final class ReactorTransport implements RdmaTransport {
  private static final Logger LOG = Loggers.getLogger(ReactorTransport.class);
  private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0);
  private static final int MOST_ROUTES = 1024;
  private static final long ROUTE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private record Route(DeviceLoops loops, long since) {
    /** Whether it is old enough that after a failure another device may be the right one. */
    boolean isOld() {
      return System.nanoTime() - since >= ROUTE_NANOS;
    }
  }

  private final RdmaOptions options;
  private final @Nullable DutyCycleInvoker invoker;
  private final VerbsProviders providers;
  private final DirectMemory direct;
  private final Function<URI, Device> devices;
  private final @Nullable Executor allocations;
  private final NameResolver<URI> names;
  private final MediaChoice media;
  private final Lookups<DeviceLoops> openings = new Lookups<>("device-opening-of-verbena");

  /** One for each device, or for all of a provider: held while one of them is opened. */
  private final Map<String, Object> openingLocks = new ConcurrentHashMap<>();

  private final Map<String, DeviceLoops> hcas = new HashMap<>();

  /** Devices that have failed, and were opened again, as far as they could not be closed yet. */
  private final List<DeviceLoops> failedHcas = new ArrayList<>();

  /** Of who closes those: devices of several addresses may be opened at once. */
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

  private final List<Server> servers = new ArrayList<>();
  private boolean disposed;

  /** Whether a thread is disposing it just now. */
  private boolean disposing;

  /** A transport with threads of its own, over the providers that are present. */
  ReactorTransport(RdmaOptions options) {
    this(options, null, VerbsProviders.load(), null, null, DirectMemory.jvm());
  }

  /**
   * @param invoker who gives turns to all that else have threads, or null
   * @param providers those that are present
   * @param devices opens a device for an address of a provider that is present; null for the
   *     provider itself
   * @param allocations runs what takes too long for a loop; null for a thread of each device's own
   * @param direct what registered memory is made of
   */
  ReactorTransport(
      RdmaOptions options,
      @Nullable DutyCycleInvoker invoker,
      VerbsProviders providers,
      @Nullable Function<URI, Device> devices,
      @Nullable Executor allocations,
      DirectMemory direct) {
    this.providers = providers;
    this.direct = direct;
    this.allocations = allocations;
    this.options = requireNonNull(options, "options");
    this.invoker = invoker;
    this.devices = devices == null ? address -> provider(address).open(address) : devices;
    names = new NameResolver<>(options.connectTimeout());
    media = new MediaChoice(new Media(providers), options.connectTimeout());
  }

  @Override
  public RdmaOptions options() {
    return options;
  }

  @Override
  public Mono<RdmaConnection> connect(URI address) {
    return connectWith(address, NO_DATA);
  }

  @Override
  public Mono<RdmaConnection> connect(URI address, ByteBuffer privateData) {
    String refusal = ProgramData.refuse(privateData);
    if (refusal != null) {
      return Mono.error(new RdmaConnectException("connect", address.toString(), refusal));
    }
    byte[] copy = new byte[privateData.remaining()];
    privateData.get(privateData.position(), copy);
    return connectWith(address, ByteBuffer.wrap(copy));
  }

  private Mono<RdmaConnection> connectWith(URI address, ByteBuffer data) {
    requireNonNull(address, "address");
    long timeout = options.connectTimeout().toNanos();
    return Mono.defer(
        () -> {
          if (Media.isAny(address)) {
            return media.connect(
                address, timeout, (candidate, time) -> connectBy(candidate, data, time));
          }
          return connectBy(address, data, timeout);
        });
  }

  private Mono<RdmaConnection> connectBy(URI address, ByteBuffer data, long timeout) {
    Supplier<URI> lookup = lookup("connect", address);
    if (lookup == null) {
      return connectTo(address, data, timeout);
    }
    long start = System.nanoTime();
    return names
        .resolve("connect", address, lookup)
        .flatMap(resolved -> connectTo(resolved, data, left(timeout, start)));
  }

  /** What there is to look up; a provider is foreign code. */
  private @Nullable Supplier<URI> lookup(String operation, URI address) {
    VerbsProvider provider = provider(address);
    try {
      return provider.lookup(address);
    } catch (Throwable e) {
      throw new RdmaConnectException(operation, address.toString(), "its provider threw " + e, e);
    }
  }

  static long left(long timeout, long start) {
    return Math.max(1, timeout - (System.nanoTime() - start));
  }

  private Mono<RdmaConnection> connectTo(URI address, ByteBuffer data, long timeout) {
    DeviceLoops known = known("connect", address);
    if (known != null) {
      return connectBy(known, address, data, timeout);
    }
    long start = System.nanoTime();
    return opened("connect", address, Duration.ofNanos(timeout))
        .flatMap(
            hca -> connectBy(hca, address, data, invoker == null ? left(timeout, start) : timeout));
  }

  private Mono<RdmaConnection> connectBy(
      DeviceLoops hca, URI address, ByteBuffer data, long timeout) {
    Mono<RdmaConnection> connect =
        new ConnectMono(address, data, timeout, () -> context(hca, address));
    return isRouted(address)
        ? connect.doOnError(RdmaException.class, failed -> forgetRoute(address))
        : connect;
  }

  private static ConnectionContext context(DeviceLoops hca, URI address) {
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
    return bindWith(address, null, handler);
  }

  @Override
  public Mono<RdmaServer> bind(
      URI address, AcceptHook hook, Function<RdmaConnection, ? extends Publisher<Void>> handler) {
    return bindWith(address, requireNonNull(hook, "hook"), handler);
  }

  private Mono<RdmaServer> bindWith(
      URI address,
      @Nullable AcceptHook hook,
      Function<RdmaConnection, ? extends Publisher<Void>> handler) {
    requireNonNull(address, "address");
    requireNonNull(handler, "handler");
    return Mono.defer(
        () -> {
          ConnectionSlots slots = new ConnectionSlots();
          return Media.isAny(address)
              ? media.bind(address, candidate -> bindBy(candidate, slots, hook, handler))
              : bindBy(address, slots, hook, handler);
        });
  }

  private Mono<RdmaServer> bindBy(
      URI address,
      ConnectionSlots slots,
      @Nullable AcceptHook hook,
      Function<RdmaConnection, ? extends Publisher<Void>> handler) {
    Supplier<URI> lookup = lookup("bind", address);
    return lookup == null
        ? bindTo(address, slots, hook, handler)
        : names
            .resolve("bind", address, lookup)
            .flatMap(resolved -> bindTo(resolved, slots, hook, handler));
  }

  private Mono<RdmaServer> bindTo(
      URI address,
      ConnectionSlots slots,
      @Nullable AcceptHook hook,
      Function<RdmaConnection, ? extends Publisher<Void>> handler) {
    DeviceLoops known = known("bind", address);
    Mono<DeviceLoops> hca =
        known == null ? opened("bind", address, options.connectTimeout()) : Mono.just(known);
    return hca.map(its -> listen(its, address, slots, hook, handler));
  }

  private RdmaServer listen(
      DeviceLoops hca,
      URI address,
      ConnectionSlots slots,
      @Nullable AcceptHook hook,
      Function<RdmaConnection, ? extends Publisher<Void>> handler) {
    try {
      // Whoever disposes of the transport finds it listening, or it does not listen any more.
      synchronized (servers) {
        if (isDisposed()) {
          throw disposed("bind", address);
        }
        Server server =
            new Server(
                address,
                hca.dispatcher(),
                hca::context,
                hca.memory(),
                slots,
                hook,
                invoker == null ? Schedulers.boundedElastic() : Schedulers.immediate(),
                handler);
        servers.removeIf(Server::isDisposed);
        servers.add(server);
        return server;
      }
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

  private static RdmaConnectException disposed(String operation, URI address) {
    return new RdmaConnectException(operation, address.toString(), "the transport was disposed");
  }

  @Override
  public RdmaMemory memory(URI address) {
    requireNonNull(address, "address");
    if (Media.isAny(address)) {
      throw MediaServer.noMemoryOfAll(address);
    }
    Supplier<URI> lookup = lookup("memory", address);
    if (lookup == null) {
      return memoryOf(address);
    }
    if (Schedulers.isInNonBlockingThread()) {
      throw wouldBlock("looking up the host of " + address);
    }
    try {
      return memoryOf(names.resolve("memory", address, lookup).toFuture().join());
    } catch (CompletionException e) {
      throw e.getCause() instanceof RdmaException failure ? failure : e;
    }
  }

  private RdmaMemory memoryOf(URI address) {
    DeviceLoops known = known("memory", address);
    if (known == null && Thread.currentThread() instanceof LoopThread) {
      throw wouldBlock("opening the device of " + address);
    }
    return (known == null ? open("memory", address) : known).memory();
  }

  /** As Reactor's own block() does. */
  private static IllegalStateException wouldBlock(String work) {
    return new IllegalStateException(
        "memory: "
            + work
            + " would block "
            + Thread.currentThread().getName()
            + " (expected: a thread that may block); RdmaConnection.memory() and"
            + " RdmaServer.memory() have not to wait for it");
  }

  /** The device for an address, if it is open. */
  private synchronized @Nullable DeviceLoops known(String operation, URI address) {
    if (disposed) {
      throw disposed(operation, address);
    }
    Route route = routes.get(routeKey(address));
    return working(route == null ? hcas.get(singleKey(address)) : route.loops);
  }

  private static @Nullable DeviceLoops working(@Nullable DeviceLoops loops) {
    return loops == null || loops.haveFailed() ? null : loops;
  }

  private synchronized boolean isRouted(URI address) {
    return routes.containsKey(routeKey(address));
  }

  /** A connect failed: another device may lead there by now, which is found out by opening one. */
  private synchronized void forgetRoute(URI address) {
    Route route = routes.get(routeKey(address));
    if (route != null && route.isOld()) {
      routes.remove(routeKey(address));
    }
  }

  /** The device for an address, opened on a thread that may take its time. */
  private Mono<DeviceLoops> opened(String operation, URI address, Duration timeout) {
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

  /** The device for an address; opens it, once for all who ask at the same time. */
  private DeviceLoops open(String operation, URI address) {
    VerbsProvider provider = provider(address);
    String single = singleKey(address);
    synchronized (openingLocks.computeIfAbsent(single, key -> new Object())) {
      DeviceLoops known = known(operation, address);
      if (known != null) {
        return known;
      }
      try {
        closeFailed();
        boolean isSingle = provider.deviceNames().size() <= 1;
        Device device = devices.apply(address);
        String key = isSingle ? single : deviceKey(device, address);
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
    // Whoever invokes the loops must not wait for them.
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

  /** Keeps an open device that {@link #dispose} is to close; returns false if that has been. */
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

  private static String deviceKey(Device device, URI address) {
    return scheme(address)
        + '/'
        + device.attributes().name()
        + '?'
        + Objects.toString(address.getRawQuery(), "");
  }

  private static String scheme(URI address) {
    return address.getScheme().toLowerCase(Locale.ROOT);
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
      toClose = new ArrayList<>(hcas.values());
      toClose.addAll(failedHcas);
      routes.clear();
    }
    names.dispose();
    media.dispose();
    openings.dispose();
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
      awaitOpenings();
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

  /** A device that is just being opened is closed by who opens it. */
  private void awaitOpenings() {
    try {
      if (!openings.awaitEnd(DeviceLoops.patience(options))) {
        throw new VerbsException(
            VerbsError.BUSY, "close: a device is being opened; try again when that has ended");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private @Nullable RuntimeException closeServers() {
    List<Server> listening;
    synchronized (servers) {
      listening = List.copyOf(servers);
      servers.clear();
    }
    RuntimeException failure = null;
    for (Server server : listening) {
      try {
        server.dispose();
      } catch (RuntimeException e) {
        failure = failure == null ? e : failure;
        synchronized (servers) {
          servers.add(server);
        }
      }
    }
    return failure;
  }

  private synchronized void forget(DeviceLoops hca) {
    hcas.values().remove(hca);
    failedHcas.remove(hca);
  }

  @Override
  public synchronized boolean isDisposed() {
    return disposed;
  }
}
