package io.verbena.netty;

import io.netty.util.NetUtil;
import io.verbena.RdmaOptions;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.meters.Credit;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The device that the event loops of a group share, with its protection domain, registered memory
 * and connection events. Opened for the first loop and closed with the last. Thread-safe.
 */
final class Hca {
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);
  private static final int FIRST_PORT = 49_152;
  private static final int PORTS = 65_536 - FIRST_PORT;

  private final URI address;
  private final InetAddress host;
  private final RdmaOptions options;
  private final Device device;
  private final ProtectionDomain domain;
  private final RegisteredMemory memory;
  private final HcaMeter meter;
  private final ConnectionEventDispatcher dispatcher;
  private final AtomicInteger ports = new AtomicInteger();
  private int users = 1;

  private Hca(URI address, RdmaOptions options) {
    this.address = address;
    this.options = options;
    host = hostOf(address);
    device = VerbsProviders.find(address).open(address);
    ProtectionDomain made = null;
    try {
      made = device.allocateProtectionDomain();
      domain = made;
      memory = new RegisteredMemory(made, options);
      dispatcher = new ConnectionEventDispatcher("verbena-netty-" + device.attributes().name() + "-cm", device, null);
    } catch (VerbsException e) {
      if (made != null) {
        made.close();
      }
      device.close();
      throw e;
    }
    meter =
        options
            .meters()
            .hca(
                new MeteredHca(
                    "netty",
                    address.getScheme().toLowerCase(Locale.ROOT),
                    device,
                    memory::registeredBytes,
                    options.maxRegisteredBytes(),
                    Set.of(Credit.RECEIVE)));
    dispatcher.start();
  }

  /**
   * Opens the device.
   *
   * @throws VerbsException if there is none
   */
  static Hca open(URI address, RdmaOptions options) {
    return new Hca(address, options);
  }

  /** A host that is a name within an emulated fabric has no address but this machine's. */
  private static InetAddress hostOf(URI address) {
    String host = address.getHost();
    byte[] bytes = host == null ? null : NetUtil.createByteArrayFromIpAddressString(host);
    try {
      return bytes == null ? NetUtil.LOCALHOST4 : InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new VerbsException(VerbsError.INVALID, "address: " + address, e);
    }
  }

  RdmaOptions options() {
    return options;
  }

  Device device() {
    return device;
  }

  ProtectionDomain domain() {
    return domain;
  }

  RegisteredMemory memory() {
    return memory;
  }

  /** Who is told what happens on the device. */
  HcaMeter meter() {
    return meter;
  }

  ConnectionEventDispatcher dispatcher() {
    return dispatcher;
  }

  /** Counts one more loop; false if it was closed meanwhile. */
  synchronized boolean retain() {
    if (users == 0) {
      return false;
    }
    users++;
    return true;
  }

  /**
   * Counts one loop less, and closes all with the last.
   *
   * @throws VerbsException if something of the device is left open
   */
  void release() {
    synchronized (this) {
      if (--users > 0) {
        return;
      }
    }
    try {
      dispatcher.close(PATIENCE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    meter.close();
    memory.close();
    domain.close();
    device.close();
  }

  /**
   * The address of the fabric that stands for a socket address: this machine, by whatever name, is
   * the host of the HCA's own address.
   */
  URI uri(InetSocketAddress socket) {
    InetAddress to = socket.getAddress();
    String authority =
        to == null || to.isAnyLocalAddress() || to.isLoopbackAddress() || to.equals(host)
            ? ownHost()
            : bracketed(NetUtil.toAddressString(to));
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

  private static String bracketed(String address) {
    return address.indexOf(':') < 0 ? address : "[" + address + "]";
  }

  private String ownHost() {
    String authority = address.getHost();
    return authority == null ? address.getRawAuthority() : authority;
  }

  /** An address of this end, with a port that tells its connections apart. */
  InetSocketAddress nextLocal() {
    return local(FIRST_PORT + Math.floorMod(ports.getAndIncrement(), PORTS));
  }

  /** An address of this end. */
  InetSocketAddress local(int port) {
    return new InetSocketAddress(host, port);
  }
}
