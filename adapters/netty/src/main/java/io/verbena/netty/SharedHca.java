// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.util.NetUtil;
import io.verbena.RdmaOptions;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.device.OpenedDevice;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.meters.Credit;
import io.verbena.meters.HcaMeter;
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
 * The HCA that the event loops of a group share. Opened for the first loop and closed with the
 * last. Thread-safe.
 */
final class SharedHca {
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(10);
  private static final int FIRST_PORT = 49_152;
  private static final int PORTS = 65_536 - FIRST_PORT;

  private final URI address;
  private final InetAddress host;
  private final RdmaOptions options;
  private final OpenedDevice opened;
  private final AtomicInteger ports = new AtomicInteger();
  private int users = 1;

  private SharedHca(URI address, RdmaOptions options) {
    this.address = address;
    this.options = options;
    host = hostOf(address);
    opened =
        new OpenedDevice(
            "verbena-netty",
            "netty",
            address.getScheme().toLowerCase(Locale.ROOT),
            VerbsProviders.find(address).open(address),
            options,
            Set.of(Credit.RECEIVE),
            null);
    opened.dispatcher().start();
  }

  /**
   * Opens the device.
   *
   * @throws VerbsException if there is none
   */
  static SharedHca open(URI address, RdmaOptions options) {
    return new SharedHca(address, options);
  }

  /** Returns the host's address; that of this machine for a name within an emulated fabric. */
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
    return opened.device();
  }

  ProtectionDomain domain() {
    return opened.domain();
  }

  RegisteredMemory memory() {
    return opened.memory();
  }

  /** Returns the meter of the device. */
  HcaMeter meter() {
    return opened.meter();
  }

  ConnectionEventDispatcher dispatcher() {
    return opened.dispatcher();
  }

  /** Counts one more loop; returns false if the HCA was closed meanwhile. */
  synchronized boolean retain() {
    if (users == 0) {
      return false;
    }
    users++;
    return true;
  }

  /**
   * Counts one loop less, and closes the device with the last.
   *
   * @throws VerbsException if something of the device is left open
   */
  void release() {
    synchronized (this) {
      if (--users > 0) {
        return;
      }
    }
    opened.close(PATIENCE);
  }

  /**
   * Returns the HCA's address for a socket address: this machine, by whatever name, is the host of
   * the HCA's own address.
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

  /** Returns an address of this end, with a port that distinguishes its connections. */
  InetSocketAddress nextLocal() {
    return local(FIRST_PORT + Math.floorMod(ports.getAndIncrement(), PORTS));
  }

  /** Returns an address of this end. */
  InetSocketAddress local(int port) {
    return new InetSocketAddress(host, port);
  }
}
