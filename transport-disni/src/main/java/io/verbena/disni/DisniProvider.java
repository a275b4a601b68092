// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.address.DisniAddress;
import io.verbena.disni.core.RdmaCore;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.provider.HostNames;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * RNICs and Soft-RoCE devices of this machine through DiSNI, as {@code disni://host:port}. The host
 * is an address of a local device, or an address that a local device has a route to.
 *
 * <p>Options that choose the device: {@code device=NAME} takes the device of this name; {@code
 * gid=INDEX} connects from this GID of the device; {@code source=ADDRESS} connects from this
 * address, and takes the device that has it; {@code port=NUMBER} takes this port of the device.
 * Without these options the host's address, or the route to it, decides. The other options, see
 * {@link DisniAddress}, are for queue pairs, completion queues and memory regions.
 */
public class DisniProvider implements VerbsProvider {
  /** Creates the provider, for {@link java.util.ServiceLoader}. */
  public DisniProvider() {}

  @Override
  public String scheme() {
    return DisniAddress.SCHEME;
  }

  /**
   * Returns the native calls. The first call loads the native libraries.
   *
   * @throws VerbsException NO_DEVICE on a machine without the libraries of rdma-core, NOT_SUPPORTED
   *     if the libraries do not fit this machine, NOT_PERMITTED if this JVM permits no native code,
   *     IO if the libraries cannot be unpacked
   */
  protected RdmaCore core() {
    return NativeLibrary.load();
  }

  private RdmaCore load() {
    RdmaCore core = core();
    Block.use(core);
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
    InetAddress near = parsed.source() != null ? parsed.source() : parsed.socket().getAddress();
    BoundAddress found =
        parsed.device() == null && !near.isAnyLocalAddress()
            ? byAddress(core, address, near, names)
            : null;
    String name = found == null ? named(address, parsed, names) : found.device();
    DisniContext context = DisniContext.of(core, DisniContext.named(core, name));
    AddressCheck check = new AddressCheck(context, address, parsed);
    DisniPort port = context.port(port(context, check, parsed, near, found));
    check.check(port);
    return new DisniDevice(core, context, port, port.source(parsed), parsed);
  }

  /**
   * Returns the name of the device that an address names, or of the first device if it names none.
   */
  private static String named(URI address, DisniAddress parsed, List<String> names) {
    String name = parsed.device();
    if (name != null && !names.contains(name)) {
      throw new VerbsException(
          VerbsError.NO_DEVICE,
          "open " + address + ": device: " + name + " (expected: " + names + ")");
    }
    return name == null ? names.get(0) : name;
  }

  /** Returns the device that has an address, or else the device on the route to it. */
  private static BoundAddress byAddress(
      RdmaCore core, URI address, InetAddress near, List<String> names) {
    String none = "open " + address + ": no device has or reaches " + near;
    try {
      BoundAddress found = BoundAddress.find(core, near);
      if (found != null) {
        return found;
      }
    } catch (IOException e) {
      throw new VerbsException(VerbsError.NO_DEVICE, none + " (devices: " + names + ")", e);
    }
    throw new VerbsException(VerbsError.NO_DEVICE, none + " (devices: " + names + ")");
  }

  /**
   * Returns the number of the port to open a device on. In this order: the port that the address
   * names; the port that has {@code near} or leads to it; the port with the address nearest to it;
   * port 1.
   *
   * @param found the device and port that {@code near} led to, or null if the device was chosen by
   *     name
   */
  private static int port(
      DisniContext context,
      AddressCheck check,
      DisniAddress parsed,
      InetAddress near,
      @Nullable BoundAddress found) {
    int asked = parsed.port();
    boolean isAsked = asked != DisniAddress.UNSET;
    if (asked > context.ports()) {
      throw check.invalid("port", asked, "1.." + context.ports());
    }
    if (context.ports() == 1 || near.isAnyLocalAddress()) {
      return isAsked ? asked : 1;
    }
    BoundAddress bound = found == null ? own(context, near) : found;
    if (isAsked && bound != null && bound.isOwn() && bound.port() != asked) {
      throw check.invalid("port", asked, bound.port() + ", which has " + near);
    }
    return isAsked ? asked : bound == null ? nearest(context, near) : bound.port();
  }

  /** Returns the port of this device that has an address, or null. */
  private static @Nullable BoundAddress own(DisniContext context, InetAddress address) {
    try {
      BoundAddress own = BoundAddress.own(context.core(), address);
      return own == null || !own.device().equals(context.name()) ? null : own;
    } catch (IOException e) {
      throw Errno.failure("find " + address, e);
    }
  }

  private static int nearest(DisniContext context, InetAddress address) {
    int nearest = 1;
    int most = -1;
    for (int number = 1; number <= context.ports(); number++) {
      int nearness = context.port(number).nearness(address);
      if (nearness > most) {
        most = nearness;
        nearest = number;
      }
    }
    return nearest;
  }
}
