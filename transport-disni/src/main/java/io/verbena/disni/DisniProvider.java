// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.address.DisniAddress;
import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.EventWords;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.provider.HostNames;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * RNICs and Soft-RoCE devices of this machine through DiSNI, as {@code disni://host:port}: the host
 * is an address of a device here, to listen on, or one that a device reaches.
 *
 * <p>Options: {@code device=NAME} takes this device; {@code gid=INDEX} connects from one of its
 * GIDs; {@code source=ADDRESS} connects from an address, and takes the device that has it. Without
 * any the address, or the route to it, decides. The others, of {@link DisniAddress}, are for queue
 * pairs.
 */
public class DisniProvider implements VerbsProvider {
  private static final short PORT_SPACE_TCP = 0x0106;
  private static final int RESOLVE_MILLIS = 2000;

  /** For {@link java.util.ServiceLoader}. */
  public DisniProvider() {}

  @Override
  public String scheme() {
    return DisniAddress.SCHEME;
  }

  /**
   * Loads the libraries, the first time.
   *
   * @throws VerbsException NO_DEVICE on a machine without the libraries of rdma-core, NOT_SUPPORTED
   *     if it cannot be done on this machine, or in this JVM
   */
  protected RdmaCore core() {
    return NativeLibrary.load();
  }

  private RdmaCore load() {
    RdmaCore core = core();
    Block.toldBy(core);
    return core;
  }

  @Override
  public List<String> deviceNames() {
    return DisniContext.deviceNames(load());
  }

  @Override
  public @Nullable Supplier<URI> lookup(URI address) {
    return HostNames.lookup(address, host -> DisniAddress.lookup(address, host));
  }

  @Override
  public Device open(URI address) {
    DisniAddress parsed = DisniAddress.parse(scheme(), address);
    RdmaCore core = load();
    List<String> names = DisniContext.deviceNames(core);
    if (names.isEmpty()) {
      throw DeviceFiles.explain("open " + address);
    }
    String name = parsed.device();
    if (name != null) {
      DisniContext context = byName(core, address, name, names);
      return open(core, context, address, parsed);
    }
    InetAddress near = parsed.source() != null ? parsed.source() : parsed.socket().getAddress();
    if (near.isAnyLocalAddress()) {
      DisniContext context = byName(core, address, names.get(0), names);
      return open(core, context, address, parsed);
    }
    long pointer = byAddress(core, address, near, names);
    DisniContext context = DisniContext.of(core, pointer);
    return open(core, context, address, parsed);
  }

  private static DisniDevice open(
      RdmaCore core, DisniContext context, URI address, DisniAddress parsed) {
    context.check(address, parsed);
    return new DisniDevice(core, context, context.source(parsed), parsed);
  }

  private static DisniContext byName(RdmaCore core, URI address, String name, List<String> names) {
    if (!names.contains(name)) {
      throw new VerbsException(
          VerbsError.NO_DEVICE,
          "open " + address + ": device: " + name + " (expected: " + names + ")");
    }
    return DisniContext.of(core, DisniContext.named(core, name));
  }

  /** The context of the device that has an address, or else of the one that reaches it. */
  private static long byAddress(RdmaCore core, URI address, InetAddress near, List<String> names) {
    Block socket = SocketAddress.write(new InetSocketAddress(near, 0));
    try {
      long channel = core.createEventChannel();
      long id = 0;
      try {
        id = core.createId(channel, PORT_SPACE_TCP);
        try {
          core.bindAddr(id, socket.address());
        } catch (IOException notOurs) {
          core.resolveAddr(id, 0, socket.address(), RESOLVE_MILLIS);
          socket.keep();
          awaitAddress(core, channel);
        }
        long context = core.contextOf(id);
        if (context > 0) {
          // By its name, since that keeps it: without the identifier nothing of librdmacm's does.
          return DisniContext.named(core, DisniContext.name(core, context));
        }
      } finally {
        if (id != 0) {
          core.destroyIdentifier(id);
        }
        core.destroyEventChannel(channel);
      }
    } catch (IOException e) {
      throw new VerbsException(
          VerbsError.NO_DEVICE,
          "open " + address + ": no device has or reaches " + near + " (devices: " + names + ")",
          e);
    }
    throw new VerbsException(
        VerbsError.NO_DEVICE,
        "open " + address + ": no device has or reaches " + near + " (devices: " + names + ")");
  }

  /** Waits for the answer to resolveAddr, whatever it is: only a good one binds a device. */
  private static void awaitAddress(RdmaCore core, long channel) {
    int wakeup = Errno.check("eventfd", core.openWakeup());
    try {
      int ready = core.connectionEventReady(channel, wakeup, 2 * RESOLVE_MILLIS);
      if (Errno.check("await address", ready) > 0) {
        Block words = Block.of(EventWords.values());
        Block data = new Block(256);
        Errno.check("get event", core.connectionEvent(channel, words.address(), data.address()));
      }
    } finally {
      Errno.check("close eventfd", core.closeWakeup(wakeup));
    }
  }
}
