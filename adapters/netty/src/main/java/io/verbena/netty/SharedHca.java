// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.util.NetUtil;
import io.verbena.RdmaOptions;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.device.AsyncEvents;
import io.verbena.core.device.OpenedDevice;
import io.verbena.core.loop.CloseSteps;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.core.receive.ReceivePool;
import io.verbena.meters.Credit;
import io.verbena.meters.HcaMeter;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.VerbsProviders;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The HCA that all event loops of this JVM with the same URI and equal options share, so that one
 * group can accept connections for which another one listens. Opened for the first loop and closed
 * with the last. Thread-safe.
 */
final class SharedHca {
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);

  /** The loopback address without a host name, like the address of a connected socket. */
  private static final InetAddress LOOPBACK = withoutName(NetUtil.LOCALHOST4);

  /** The start of the message that TCP may not take the place of RDMA; the HCA's URI follows. */
  static final String LOCKED =
      "TCP has no keys (expected: an HCA without key-file, and TLS if anything): ";

  private static final Map<Key, SharedHca> OPEN = new HashMap<>();

  private record Key(URI address, RdmaOptions options) {}

  private final URI address;
  private final InetAddress host;

  /** Whether the HCA has a network address; on an emulated fabric it has a name instead. */
  private final boolean hasAddress;

  private final RdmaOptions options;
  private final OpenedDevice opened;
  private final PeerMedia peers = new PeerMedia();

  /** The number of loops and listeners. Guarded by {@link #OPEN}. */
  private int users = 1;

  private SharedHca(URI address, RdmaOptions options) {
    this.address = address;
    this.options = options;
    VerbsProvider provider = VerbsProviders.find(address);
    Supplier<URI> lookup = provider.lookup(address);
    URI found = lookup == null ? address : lookup.get();
    InetAddress own = hostOf(found);
    hasAddress = own != null;
    host = own == null ? LOOPBACK : own;
    opened =
        new OpenedDevice(
            "verbena-netty",
            "netty",
            scheme(),
            provider.open(found),
            options,
            Set.of(Credit.RECEIVE),
            null);
    opened.dispatcher().start();
    if (ReceivePool.fits(opened.device().attributes())) {
      opened.events().start();
    }
  }

  /**
   * Opens the device, or adds a user to the one that is open.
   *
   * @throws VerbsException if it cannot be opened
   */
  static SharedHca open(URI address, RdmaOptions options) {
    Key key = new Key(address, options);
    synchronized (OPEN) {
      SharedHca open = OPEN.get(key);
      if (open == null || open.hasFailed()) {
        open = new SharedHca(address, options);
        OPEN.put(key, open);
      } else {
        open.users++;
      }
      return open;
    }
  }

  /** Adds a user, which keeps the HCA open until {@link #release}. */
  void retain() {
    synchronized (OPEN) {
      users++;
    }
  }

  private static InetAddress withoutName(InetAddress address) {
    try {
      return InetAddress.getByAddress(address.getAddress());
    } catch (UnknownHostException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Returns the address of the HCA; null for a name within an emulated fabric. */
  private static @Nullable InetAddress hostOf(URI address) {
    String host = address.getHost();
    byte[] bytes = host == null ? null : NetUtil.createByteArrayFromIpAddressString(host);
    try {
      return bytes == null ? null : InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new VerbsException(VerbsError.INVALID, "address: " + address, e);
    }
  }

  URI address() {
    return address;
  }

  /** Returns whether the device has failed; it can then be opened again. */
  boolean hasFailed() {
    return opened.dispatcher().hasFailed();
  }

  RdmaOptions options() {
    return options;
  }

  Device device() {
    return opened.device();
  }

  ProtectionDomain domain() {
    return opened.domain();
  }

  RegisteredMemory memory() {
    return opened.memory();
  }

  /** Returns the scheme of the HCA's URI, in lower case. */
  String scheme() {
    return address.getScheme().toLowerCase(Locale.ROOT);
  }

  /** Returns the media over which connects reached the peers. */
  PeerMedia peers() {
    return peers;
  }

  /**
   * Returns whether peers have to prove that they have a key ({@code roce://...?key-file=FILE}),
   * which peers over TCP cannot.
   */
  boolean isLocked() {
    String query = address.getRawQuery();
    return query != null && ("&" + query).contains("&key-file=");
  }

  /**
   * Returns whether a listener of this HCA and a TCP socket at {@code at} would listen on one TCP
   * port: the emulated HCA of {@code iwarp://} listens on TCP sockets.
   */
  boolean sharesPortsWithTcp(InetAddress at) {
    return scheme().equals("iwarp")
        && (at.equals(host) || at.isAnyLocalAddress() || host.isAnyLocalAddress());
  }

  /** Returns the meter of the device. */
  HcaMeter meter() {
    return opened.meter();
  }

  AsyncEvents events() {
    return opened.events();
  }

  /** Returns the steps that close, before the device, its objects that could not be closed yet. */
  CloseSteps closeFirst() {
    return opened.closeFirst();
  }

  /**
   * Closes an object of a connection or a loop. If that fails, on a failed device for example, it
   * is tried again before the device is closed.
   *
   * @param name of the object, for errors
   */
  void close(String name, Runnable close) {
    guarded(
        () -> {
          try {
            close.run();
          } catch (RuntimeException | Error e) {
            closeFirst().add(name, close);
            throw e;
          }
        });
  }

  /** Runs one step of a close. An exception is metered, so that the other steps still run. */
  void guarded(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      meter().failed("connection", null, e);
    }
  }

  ConnectionEventDispatcher dispatcher() {
    return opened.dispatcher();
  }

  /**
   * Removes a user, and closes the device with the last one.
   *
   * @throws VerbsException if something of the device is left open
   */
  void release() {
    synchronized (OPEN) {
      if (--users > 0) {
        return;
      }
      OPEN.remove(new Key(address, options), this);
    }
    opened.close(PATIENCE);
  }

  /**
   * Returns the HCA's URI for a socket address. An address that {@linkplain #isOwn stands for} this
   * HCA becomes the host of the HCA's own URI.
   *
   * @throws UnresolvedAddressException if the address is unresolved
   */
  URI uri(InetSocketAddress socket) {
    InetAddress to = socket.getAddress();
    if (to == null) {
      throw new UnresolvedAddressException();
    }
    String authority = isOwn(to) ? ownHost() : bracketed(NetUtil.toAddressString(to));
    String query = address.getRawQuery();
    try {
      return new URI(
          address.getScheme()
              + "://"
              + authority
              + ":"
              + socket.getPort()
              + (query == null ? "" : "?" + query));
    } catch (URISyntaxException e) {
      throw new VerbsException(VerbsError.INVALID, "address: " + socket, e);
    }
  }

  /**
   * Returns whether an address stands for this HCA. If the HCA has a name, all addresses of this
   * machine do; if it has an address, that one, the wildcard and the loopback do. HCAs on the
   * loopback have one of its addresses each, so for them only 127.0.0.1 and ::1 stand for the
   * loopback.
   */
  boolean isOwn(InetAddress to) {
    if (to.isAnyLocalAddress() || to.equals(host)) {
      return true;
    }
    if (to.isLoopbackAddress()) {
      return !hasAddress
          || !host.isLoopbackAddress()
          || to.equals(NetUtil.LOCALHOST4)
          || to.equals(NetUtil.LOCALHOST6);
    }
    try {
      return !hasAddress && NetworkInterface.getByInetAddress(to) != null;
    } catch (SocketException e) {
      throw new VerbsException(VerbsError.IO, "address: " + to + ": cannot be looked up", e);
    }
  }

  /**
   * Returns {@code wanted}, if it is an address of this HCA.
   *
   * @throws UnresolvedAddressException if it is unresolved
   * @throws BindException if it is not an address of this HCA
   */
  InetSocketAddress checkOwn(InetSocketAddress wanted) throws BindException {
    if (wanted.isUnresolved()) {
      throw new UnresolvedAddressException();
    }
    if (!isOwn(wanted.getAddress())) {
      throw new BindException(
          "Cannot assign requested address: " + wanted + ": no address of this HCA");
    }
    return wanted;
  }

  /**
   * Returns whether a channel may listen at an address. On a fabric with addresses the connection
   * manager decides.
   */
  boolean canListenAt(InetAddress at) {
    return hasAddress || isOwn(at);
  }

  private static String bracketed(String address) {
    return address.indexOf(':') < 0 ? address : "[" + address + "]";
  }

  private String ownHost() {
    String authority = address.getHost();
    return authority == null ? address.getRawAuthority() : authority;
  }

  /**
   * Returns the address of the peer that requests a connection, with the port that the fabric
   * reports; with port 0 where the fabric has no ports.
   */
  InetSocketAddress remote(ConnectionIdentifier request) {
    InetSocketAddress from = request.remoteAddress();
    return from == null ? local(0) : from;
  }

  /** Returns the address of this HCA with a port. */
  InetSocketAddress local(int port) {
    return new InetSocketAddress(host, port);
  }

  /** Returns the socket address of a listener of this HCA. */
  InetSocketAddress local(ConnectionListener listener) {
    InetAddress at = hasAddress ? hostOf(listener.address()) : null;
    return new InetSocketAddress(at == null ? host : at, listener.address().getPort());
  }
}
