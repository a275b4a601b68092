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
import io.verbena.RdmaTransport;
import io.verbena.core.cm.ConnectionSlots;
import io.verbena.core.cm.ProgramPrivateData;
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
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The reactive transport over any verbs provider. Resolves host names, then connects and listens on
 * the devices of {@link OpenDevices}.
 *
 * <p>{@link #dispose} waits until all is closed: for each thread, 5 seconds longer than {@link
 * RdmaOptions#closeTimeout} at most. On the thread of a completion loop it starts a thread that
 * waits, and returns.
 */
final class ReactorTransport implements RdmaTransport {
  private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0);

  private final RdmaOptions options;
  private final @Nullable DutyCycleInvoker invoker;
  private final OpenDevices devices;
  private final NameResolver<URI> names;
  private final MediaChoice media;
  private final List<Server> servers = new ArrayList<>();

  /** Creates a transport with threads of its own, over the available providers. */
  ReactorTransport(RdmaOptions options) {
    this(options, null, VerbsProviders.load(), null, null, DirectMemory.jvm());
  }

  /**
   * @param invoker invokes the duty cycles of loops and dispatchers in place of threads, or null
   * @param providers the available providers
   * @param opener opens the device for an address; null to open it by the address's provider
   * @param allocations runs allocations that would take a loop too long; null for a thread for each
   *     device
   * @param direct allocates the memory to register
   */
  ReactorTransport(
      RdmaOptions options,
      @Nullable DutyCycleInvoker invoker,
      VerbsProviders providers,
      @Nullable Function<URI, Device> opener,
      @Nullable Executor allocations,
      DirectMemory direct) {
    this.options = requireNonNull(options, "options");
    this.invoker = invoker;
    devices = new OpenDevices(options, invoker, providers, opener, allocations, direct);
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
    String refusal = ProgramPrivateData.refuse(privateData);
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

  /**
   * Returns the host name lookup that an address needs, or null. Wraps what the provider throws,
   * which is foreign code.
   */
  private @Nullable Supplier<URI> lookup(String operation, URI address) {
    VerbsProvider provider = devices.provider(address);
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
    DeviceLoops known = devices.known("connect", address);
    if (known != null) {
      return connectBy(known, address, data, timeout);
    }
    long start = System.nanoTime();
    return devices
        .opened("connect", address, Duration.ofNanos(timeout))
        .flatMap(
            hca -> connectBy(hca, address, data, invoker == null ? left(timeout, start) : timeout));
  }

  private Mono<RdmaConnection> connectBy(
      DeviceLoops hca, URI address, ByteBuffer data, long timeout) {
    Mono<RdmaConnection> connect =
        new ConnectMono(address, data, timeout, () -> context(hca, address));
    return devices.isRouted(address)
        ? connect.doOnError(RdmaException.class, failed -> devices.forgetRoute(address))
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
    DeviceLoops known = devices.known("bind", address);
    Mono<DeviceLoops> hca =
        known == null
            ? devices.opened("bind", address, options.connectTimeout())
            : Mono.just(known);
    return hca.map(opened -> listen(opened, address, slots, hook, handler));
  }

  private RdmaServer listen(
      DeviceLoops hca,
      URI address,
      ConnectionSlots slots,
      @Nullable AcceptHook hook,
      Function<RdmaConnection, ? extends Publisher<Void>> handler) {
    try {
      // A thread that disposes of the transport finds this server in the list, or isDisposed() is
      // true here.
      synchronized (servers) {
        if (isDisposed()) {
          throw OpenDevices.disposed("bind", address);
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
        servers.removeIf(each -> !each.isListening());
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
    DeviceLoops known = devices.known("memory", address);
    if (known == null && Thread.currentThread() instanceof LoopThread) {
      throw wouldBlock("opening the device of " + address);
    }
    return (known == null ? devices.open("memory", address) : known).memory();
  }

  /** Returns an exception of the type that Reactor's {@code block()} throws. */
  private static IllegalStateException wouldBlock(String work) {
    return new IllegalStateException(
        "memory: "
            + work
            + " would block "
            + Thread.currentThread().getName()
            + " (expected: a thread that may block); RdmaConnection.memory() and"
            + " RdmaServer.memory() do not block");
  }

  @Override
  public void dispose() {
    List<DeviceLoops> toClose = devices.beginDispose();
    if (toClose == null) {
      return;
    }
    names.dispose();
    media.dispose();
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

  /** Closes servers and devices. */
  private void close(List<DeviceLoops> toClose) {
    RuntimeException failure;
    try {
      RuntimeException late = devices.awaitOpenings();
      failure = devices.close(toClose, closeServers(late));
    } finally {
      devices.endDispose();
    }
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Closes the servers; returns {@code before} if it is not null, else the first failure, or null.
   */
  private @Nullable RuntimeException closeServers(@Nullable RuntimeException before) {
    List<Server> listening;
    synchronized (servers) {
      listening = List.copyOf(servers);
      servers.clear();
    }
    RuntimeException failure = before;
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

  @Override
  public boolean isDisposed() {
    return devices.isDisposed();
  }
}
