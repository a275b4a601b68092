// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.address.DisniAddress;
import io.verbena.disni.core.Words.EventWords;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Capability;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.OpenCount;
import io.verbena.verbs.provider.Range;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Connections of librdmacm over one event channel. The kernel ends the steps of a connection in its
 * own time, so this class gives them deadlines: a thread in {@link #await} also checks whether a
 * step of a connection is overdue.
 *
 * <p>Taking an event may change the identifier and its queue pair inside librdmacm. So a thread
 * that takes an event holds {@link #steps}, and so does a thread that destroys an identifier or its
 * queue pair.
 */
final class DisniConnectionManager implements ConnectionManager {
  private static final int MAX_BACKLOG = 1 << 16;
  private static final int MAX_PRIVATE_DATA = 256;

  /** The objects that a connection manager owns. */
  enum Kind {
    LISTENER,
    IDENTIFIER
  }

  private final DisniDevice device;
  private final long channel;
  private final Waiter waiter;
  private final OpenCount<Kind> open = new OpenCount<>(Kind.class);
  private final Map<Long, DisniListener> listeners = new ConcurrentHashMap<>();
  private final Map<Long, DisniConnection> connections = new ConcurrentHashMap<>();

  /** Connections whose current step has a deadline. */
  private final Set<DisniConnection> timed = ConcurrentHashMap.newKeySet();

  /** Events to return from {@link #await}. Bounded by the number of connections. */
  private final ArrayDeque<ConnectionEvent> events = new ArrayDeque<>();

  private final Object steps = new Object();
  private final IdentifierDestroyer destroyer;
  private final Block words = Block.of(EventWords.values());
  private final Block privateData = new Block(MAX_PRIVATE_DATA);

  DisniConnectionManager(DisniDevice device, long channel) {
    this.device = device;
    this.channel = channel;
    destroyer = new IdentifierDestroyer(device.core(), device.context().name());
    waiter =
        new Waiter(
            device.core(),
            "await connection event",
            (wakeupFd, millis) -> device.core().connectionEventReady(channel, wakeupFd, millis),
            device.context()::fail);
    device.opened(this);
  }

  @Override
  public DisniDevice device() {
    return device;
  }

  /**
   * Returns the lock that guards taking events, and everything that must not run at the same time.
   */
  Object steps() {
    return steps;
  }

  /**
   * Returns the connections whose deadlines a thread that awaits events checks; changed under
   * {@link #steps}.
   */
  Set<DisniConnection> timed() {
    return timed;
  }

  @Override
  public DisniListener listen(PortSpace space, URI address, int backlog) {
    require(space);
    DisniAddress parsed = DisniAddress.parse(device.core().scheme(), address);
    Range.check("listen", "backlog", backlog, 1, MAX_BACKLOG);
    device.context().requireWorking("listen");
    new AddressCheck(device.context(), address, parsed).check(device.at());
    return open.create(
        Kind.LISTENER, Integer.MAX_VALUE, () -> listen(space, address, parsed, backlog));
  }

  private DisniListener listen(PortSpace space, URI address, DisniAddress parsed, int backlog) {
    boolean listening = false;
    long id = 0;
    // Under steps: as soon as a connect request is returned, the program may close the listener.
    synchronized (steps) {
      try {
        id = device.core().createId(channel, (short) space.code());
        Block socket = SocketAddress.write(parsed.socket());
        device.core().bindAddr(id, socket.address());
        socket.keep();
        InetSocketAddress bound = SocketAddress.of(device.core(), id, false);
        if (bound == null) {
          throw new VerbsException(VerbsError.IO, "listen: " + address + " is bound to no address");
        }
        checkDevice(id, bound, space, parsed, address);
        checkGid(bound.getAddress(), parsed, address);
        setTypeOfService(id, parsed);
        DisniListener listener =
            new DisniListener(this, space, id, withOptions(bound, address), parsed);
        listeners.put(id, listener);
        device.core().listen(id, backlog);
        listening = true;
        return listener;
      } catch (IOException e) {
        throw listenFailure(address, e);
      } finally {
        if (!listening) {
          listeners.remove(id);
          if (id != 0) {
            device.core().destroyIdentifier(id);
          }
        }
      }
    }
  }

  private void checkDevice(
      long id, InetSocketAddress bound, PortSpace space, DisniAddress parsed, URI address) {
    long context = device.core().contextOf(id);
    if (context == 0 && !bound.getAddress().isAnyLocalAddress()) {
      // The kernel listens on such an address too, but no connect request ever arrives.
      throw new VerbsException(
          VerbsError.INVALID, "listen: " + address + " is no address of a device here");
    }
    if (context != 0 && context != device.context().pointer()) {
      throw new VerbsException(
          VerbsError.INVALID,
          "listen: " + address + " is another device's than " + device.context().name());
    }
    if (context != 0 && !device.has(id, space, parsed)) {
      throw new VerbsException(
          VerbsError.INVALID,
          "listen: "
              + address
              + " port: "
              + device.core().portOf(id)
              + " (expected: "
              + device.at().number()
              + ", on which the device is open)");
    }
  }

  /**
   * Checks that the GID of the address is the GID of the bound address; otherwise no connection
   * would use it.
   */
  private void checkGid(InetAddress bound, DisniAddress parsed, URI address) {
    if (parsed.gid() != DisniAddress.UNSET && !bound.isAnyLocalAddress()) {
      InetAddress of = device.at().addressOfGid(parsed.gid());
      if (!Arrays.equals(of.getAddress(), bound.getAddress())) {
        throw new VerbsException(
            VerbsError.INVALID,
            "listen: " + address + " gid: " + of + " (expected: one of " + bound + ")");
      }
    }
  }

  /**
   * Sets the type of service; before resolving or listening, because the path that the peer gets
   * contains it.
   */
  private void setTypeOfService(long id, DisniAddress parsed) {
    if (parsed.tos() != DisniAddress.UNSET) {
      Errno.check("set type of service", device.core().typeOfService(id, parsed.tos()));
    }
  }

  private static VerbsException listenFailure(URI address, IOException e) {
    VerbsException failure = Errno.failure("listen on " + address, e);
    if (Errno.of(e) == Errno.ENODEV || Errno.of(e) == Errno.EADDRNOTAVAIL) {
      return new VerbsException(
          VerbsError.INVALID, "listen: " + address + " is no address of a device here", e);
    }
    return failure;
  }

  private URI withOptions(InetSocketAddress bound, URI asked) {
    URI plain = DisniAddress.uri(device.core().scheme(), bound);
    String query = asked.getRawQuery();
    return query == null ? plain : URI.create(plain + "?" + query);
  }

  @Override
  public DisniConnection resolve(PortSpace space, URI address, long timeoutNanos) {
    require(space);
    DisniAddress parsed = DisniAddress.parse(device.core().scheme(), address);
    if (parsed.socket().getPort() == 0) {
      throw new VerbsException(
          VerbsError.INVALID, "resolve: " + address + ": port: 0 (expected: 1..65535)");
    }
    device.context().requireWorking("resolve");
    new AddressCheck(device.context(), address, parsed).check(device.at());
    InetAddress source = source(parsed);
    Block from = source == null ? null : SocketAddress.write(new InetSocketAddress(source, 0));
    Block to = SocketAddress.write(parsed.socket());
    // A thread in await may find the connection overdue at once; it releases it only after this
    // block.
    synchronized (steps) {
      DisniConnection connection =
          open.create(
              Kind.IDENTIFIER,
              Integer.MAX_VALUE,
              () -> identify(space, address, parsed, timeoutNanos));
      boolean begun = false;
      try {
        begin(connection, from, to, timeoutNanos);
        begun = true;
        return connection;
      } catch (IOException e) {
        throw Errno.failure("resolve " + address, e);
      } finally {
        if (!begun) {
          connection.close();
        }
      }
    }
  }

  private DisniConnection identify(
      PortSpace space, URI address, DisniAddress parsed, long timeoutNanos) {
    long id;
    try {
      id = device.core().createId(channel, (short) space.code());
    } catch (IOException e) {
      throw Errno.failure("resolve " + address, e);
    }
    DisniConnection connection =
        NativeObject.own(
            "destroy identifier",
            id,
            made -> {
              setTypeOfService(made, parsed);
              return DisniConnection.active(this, space, made, address, parsed, timeoutNanos);
            },
            device.core()::destroyIdentifier);
    connections.put(id, connection);
    return connection;
  }

  private @Nullable InetAddress source(DisniAddress parsed) {
    InetAddress own = device.at().source(parsed);
    return own == null ? device.source() : own;
  }

  /**
   * Begins to resolve the address. A missing route becomes an event, as when the kernel detects it
   * later.
   */
  private void begin(DisniConnection connection, @Nullable Block from, Block to, long timeoutNanos)
      throws IOException {
    int millis = (int) Math.max(1, Math.min(Integer.MAX_VALUE, timeoutNanos / 1_000_000));
    try {
      device
          .core()
          .resolveAddr(
              connection.pointer(), from == null ? 0 : from.address(), to.address(), millis);
      if (from != null) {
        from.keep();
      }
      to.keep();
    } catch (IOException e) {
      int errno = Errno.of(e);
      if (errno == 0 || Errno.error(errno) == VerbsError.NO_MEMORY) {
        throw e;
      }
      connection.unresolved(-errno);
    }
  }

  @Override
  public @Nullable ConnectionEvent await(long timeoutNanos) throws InterruptedException {
    long start = System.nanoTime();
    while (true) {
      ConnectionEvent event = pollEvent();
      if (event != null) {
        return event;
      }
      long now = System.nanoTime();
      long left = Math.max(0, timeoutNanos - (now - start));
      if (timed.stream().anyMatch(connection -> connection.isOverdue(now))) {
        // The answer may have come in time, and this thread be late.
        takeEvents();
      }
      long wait = left;
      for (DisniConnection connection : timed) {
        wait = Math.min(wait, connection.expire(now));
      }
      boolean gone = device.context().hasFailed();
      if (gone) {
        raiseDeviceRemoval();
      }
      event = pollEvent();
      if (event != null || waiter.isClosed()) {
        return event;
      }
      if (gone) {
        throw device.context().failure("await connection event");
      }
      if (waiter.await(wait) > 0) {
        take();
      } else if (left == 0) {
        return pollEvent();
      }
    }
  }

  /**
   * Raises DEVICE_REMOVAL at all connections; the kernel would report it to one after the other, in
   * its own time.
   */
  private void raiseDeviceRemoval() {
    synchronized (steps) {
      connections.values().forEach(DisniConnection::deviceRemoved);
    }
  }

  /** Wakes the thread in {@link #await}, which checks whether the device has failed. */
  void deviceFailed() {
    waiter.wakeup();
  }

  private @Nullable ConnectionEvent pollEvent() {
    synchronized (events) {
      return events.poll();
    }
  }

  /** Takes all events that the kernel has raised so far. */
  void takeEvents() {
    while (take()) {
      // Takes one event per pass.
    }
  }

  /**
   * Takes an event of the kernel and hands it to its connection, which raises events for the
   * program.
   *
   * @return whether there was an event
   */
  private boolean take() {
    synchronized (steps) {
      if (waiter.isClosed()) {
        return false;
      }
      int came = device.core().connectionEvent(channel, words.address(), privateData.address());
      if (Errno.check("get connection event", came) == 0) {
        return false;
      }
      Long id = words.get(EventWords.IDENTIFIER);
      int code = words.getInt(EventWords.TYPE);
      if (code == CmEvent.CONNECT_REQUEST) {
        request(id);
        return true;
      }
      DisniConnection connection = connections.get(id);
      boolean isListener = listeners.containsKey(id);
      if (connection != null) {
        connection.handle(code, words, data());
      } else if (code == CmEvent.DEVICE_REMOVAL && isListener) {
        // A listener has no connection that could raise the event.
        device.raise(new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, null));
      }
      // The identifier may be bound to another device than this one.
      if (code == CmEvent.DEVICE_REMOVAL
          && (isListener || connection != null)
          && device.core().contextOf(id) == device.context().pointer()) {
        device.context().fail();
      }
      return true;
    }
  }

  private void request(long id) {
    DisniListener listener = listeners.get(words.get(EventWords.LISTENER));
    if (listener == null || !device.has(id, listener.space(), listener.options())) {
      // The listener was closed meanwhile, or it listens on all devices and the request came to
      // another device or port. If the reject fails, destroying the identifier informs the client.
      device.core().reject(id, privateData.address(), 0);
      device.core().destroyIdentifier(id);
      return;
    }
    open.opened(Kind.IDENTIFIER, Integer.MAX_VALUE);
    InetSocketAddress from = SocketAddress.of(device.core(), id, true);
    URI peer = from == null ? listener.address() : DisniAddress.uri(device.core().scheme(), from);
    // The event has the fields from the receiver's view: its initiator depth is the peer's
    // responder resources (rdma_get_cm_event(3)).
    int peerServes = words.getInt(EventWords.INITIATOR_DEPTH);
    int peerAsks = words.getInt(EventWords.RESPONDER_RESOURCES);
    DisniConnection connection =
        DisniConnection.passive(
            this, listener.space(), id, peer, listener.options(), peerServes, peerAsks);
    connections.put(id, connection);
    raise(
        new ConnectionEvent(
            ConnectionEvent.Type.CONNECT_REQUEST,
            connection,
            listener,
            0,
            data(),
            peerServes,
            peerAsks));
  }

  private ByteBuffer data() {
    int length = Math.min(MAX_PRIVATE_DATA, words.getInt(EventWords.PRIVATE_DATA_LENGTH));
    byte[] copy = new byte[length];
    privateData.bytes().get(0, copy);
    return ByteBuffer.wrap(copy).asReadOnlyBuffer();
  }

  /** Wakes the thread in {@link #await}, so that it waits no longer than until the new deadline. */
  void deadlineSet() {
    waiter.wakeup();
  }

  void raise(ConnectionEvent event) {
    synchronized (events) {
      events.add(event);
    }
    waiter.wakeup();
  }

  void closed(DisniListener listener) {
    synchronized (steps) {
      listeners.remove(listener.pointer());
      device.core().destroyIdentifier(listener.pointer());
    }
    List<DisniConnection> requests = new ArrayList<>();
    synchronized (events) {
      events.removeIf(
          event ->
              event.listener() == listener && requests.add((DisniConnection) event.identifier()));
    }
    open.closed(Kind.LISTENER);
    requests.forEach(DisniConnection::close);
  }

  /**
   * Destroys a connection's identifier, after which no event of it comes. Called under {@link
   * #steps}.
   */
  void release(long identifier) {
    connections.remove(identifier);
    device.core().destroyIdentifier(identifier);
  }

  /**
   * Destroys a connection's identifier in another thread, for a kernel that waits for its driver.
   * Called under {@link #steps}.
   */
  void releaseLater(long identifier) {
    connections.remove(identifier);
    destroyer.destroy(identifier);
  }

  /** Drops the events of a connection that closes. Called under {@link #steps}. */
  void forget(DisniConnection connection) {
    synchronized (events) {
      events.removeIf(event -> event.identifier() == connection);
    }
    open.closed(Kind.IDENTIFIER);
  }

  @Override
  public void close() {
    if (open.close("connection manager")) {
      waiter.close();
      // Waits for a thread that is taking an event. A thread that takes one later finds the waiter
      // closed. So no thread uses the channel from here on.
      Monitors.awaitHolder(steps);
      destroyer.close(() -> device.core().destroyEventChannel(channel));
      device.closed(this);
    }
  }

  private void require(PortSpace space) {
    if (space == PortSpace.UDP) {
      device.attributes().require(Capability.UNRELIABLE_DATAGRAM);
    }
  }
}
