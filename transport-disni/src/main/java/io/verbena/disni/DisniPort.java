// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.address.DisniAddress;
import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.PortWords;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortAttributes;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One port of a device: its link layer, its GID table and the IP addresses of its GIDs. */
final class DisniPort {
  /** {@code IBV_LINK_LAYER_INFINIBAND}. */
  private static final int LINK_INFINIBAND = 1;

  /** {@code IBV_PORT_ACTIVE}. */
  private static final int ACTIVE = 4;

  private static final int GID_BYTES = 16;

  private final RdmaCore core;
  private final long context;
  private final String device;
  private final int number;

  /**
   * @param context the device's {@code ibv_context}
   * @param device the device's name
   * @param number the port number, from 1
   */
  DisniPort(RdmaCore core, long context, String device, int number) {
    this.core = core;
    this.context = context;
    this.device = device;
    this.number = number;
  }

  int number() {
    return number;
  }

  /** Returns the kernel's counters of this port. */
  HardwareCounters counters() {
    return HardwareCounters.of(device, number);
  }

  private Block read() {
    Block words = Block.of(PortWords.values());
    Errno.check("query port " + number, core.queryPort(context, number, words.address()));
    return words;
  }

  private static boolean isInfiniBand(Block words) {
    return words.getInt(PortWords.LINK_LAYER) == LINK_INFINIBAND;
  }

  boolean isInfiniBand() {
    return isInfiniBand(read());
  }

  /** Returns 1 if the link layer is InfiniBand, 0 if not, or a negative errno. */
  int askInfiniBand() {
    Block words = Block.of(PortWords.values());
    int done = core.queryPort(context, number, words.address());
    return done < 0 ? done : isInfiniBand(words) ? 1 : 0;
  }

  int maxMessageSize() {
    return (int) Math.min(Integer.MAX_VALUE, read().get(PortWords.MAX_MSG_SZ) & 0xffff_ffffL);
  }

  PortAttributes attributes() {
    Block words = read();
    return new PortAttributes(
        words.getInt(PortWords.STATE) == ACTIVE,
        mtu(words.getInt(PortWords.MAX_MTU)),
        mtu(words.getInt(PortWords.ACTIVE_MTU)),
        gids(words.getInt(PortWords.GID_TBL_LEN)),
        isInfiniBand(words) ? words.getInt(PortWords.LID) : 0,
        number);
  }

  static Mtu mtu(int code) {
    for (Mtu mtu : Mtu.values()) {
      if (mtu.code() == code) {
        return mtu;
      }
    }
    return Mtu.MTU_256;
  }

  // ---- GIDs

  private List<Gid> gids() {
    return gids(read().getInt(PortWords.GID_TBL_LEN));
  }

  /**
   * Returns the GIDs up to the last one that is set, so that an index into the list is a GID index.
   * Reads them in one call, because a table may have 1024 entries and reading an entry is a system
   * call.
   */
  private List<Gid> gids(int tableLength) {
    Block table = new Block(GID_BYTES * tableLength);
    int used = core.queryGids(context, number, table.address(), tableLength);
    Errno.check("query GIDs of port " + number, used);
    List<Gid> gids = new ArrayList<>(used);
    for (int index = 0; index < used; index++) {
      gids.add(gid(table, GID_BYTES * index));
    }
    return gids;
  }

  /**
   * Returns a number of GIDs for checking {@code index}: {@code index + 1} if that GID is set, else
   * the number of all GIDs.
   */
  int gidsFor(int index) {
    Block gid = new Block(GID_BYTES);
    boolean isGid =
        index >= 0
            && core.queryGid(context, number, index, gid.address()) >= 0
            && (gid.bytes().getLong(0) | gid.bytes().getLong(Long.BYTES)) != 0;
    return isGid ? index + 1 : gids().size();
  }

  /** Returns whether two GIDs of this port are the same address; their types may differ. */
  boolean isSameGid(int one, int other) {
    Block gid = new Block(GID_BYTES);
    Block second = new Block(GID_BYTES);
    return core.queryGid(context, number, one, gid.address()) >= 0
        && core.queryGid(context, number, other, second.address()) >= 0
        && gid.bytes().getLong(0) == second.bytes().getLong(0)
        && gid.bytes().getLong(Long.BYTES) == second.bytes().getLong(Long.BYTES);
  }

  private Gid readGid(int index, Block block) {
    int type = core.queryGid(context, number, index, block.address());
    if (type == -Errno.ENODATA || type == -Errno.ENOENT) {
      return new Gid(0, 0);
    }
    Errno.check("query GID " + index + " of port " + number, type);
    return gid(block, 0);
  }

  private static Gid gid(Block block, int at) {
    var bytes = block.bytes().duplicate().order(ByteOrder.BIG_ENDIAN);
    return new Gid(bytes.getLong(at), bytes.getLong(at + Long.BYTES));
  }

  /**
   * Returns whether packets to this address need a GRH: on Ethernet always, on InfiniBand if there
   * is no LID, or if the destination GID is in another subnet.
   */
  boolean needsRoute(AddressVector vector) {
    if (!isInfiniBand() || vector.lid() == 0) {
      return true;
    }
    Gid to = vector.destination();
    boolean isNone = to.high() == 0 && to.low() == 0;
    Gid own = readGid(vector.sourceGidIndex(), new Block(GID_BYTES));
    return !isNone && to.high() != own.high();
  }

  // ---- addresses

  /**
   * Returns the local address that {@code asked} wants to connect from, or null to leave it to the
   * route.
   */
  @Nullable InetAddress source(DisniAddress asked) {
    InetAddress peer = asked.socket().getAddress();
    if (asked.source() != null) {
      return asked.source();
    }
    if (asked.gid() != DisniAddress.UNSET) {
      return scoped(addressOfGid(asked.gid()), peer);
    }
    boolean namesPort = asked.device() != null || asked.port() != DisniAddress.UNSET;
    return namesPort ? nearest(peer) : null;
  }

  InetAddress addressOfGid(int index) {
    return inetAddress(readGid(index, new Block(GID_BYTES)));
  }

  /**
   * Returns the address of this port that shares the most leading bits with the peer's address;
   * among several networks or VLANs this is the one that the peer is in. Returns null if no address
   * has the peer's family.
   */
  private @Nullable InetAddress nearest(InetAddress peer) {
    InetAddress nearest = null;
    int most = -1;
    for (Gid gid : gids()) {
      InetAddress own = inetAddress(gid);
      int common = commonBits(own, peer);
      if (common > most) {
        most = common;
        nearest = scoped(own, peer);
      }
    }
    return nearest;
  }

  /**
   * Returns the number of leading bits that this port's nearest address shares with the peer's
   * address, or -1 if no address can connect to the peer.
   */
  int nearness(InetAddress peer) {
    InetAddress nearest = nearest(peer);
    return nearest == null ? -1 : commonBits(nearest, peer);
  }

  /**
   * Returns the number of leading bits that are the same, or -1 if {@code own} cannot connect to
   * {@code peer}.
   */
  private static int commonBits(InetAddress own, InetAddress peer) {
    byte[] one = own.getAddress();
    byte[] other = peer.getAddress();
    boolean needsScope = own instanceof Inet6Address && own.isLinkLocalAddress();
    if (one.length != other.length
        || own.isAnyLocalAddress()
        || (needsScope && !peer.isLinkLocalAddress())) {
      return -1;
    }
    int at = Arrays.mismatch(one, other);
    if (at < 0) {
      return one.length * Byte.SIZE;
    }
    int differing = Byte.toUnsignedInt((byte) (one[at] ^ other[at]));
    return at * Byte.SIZE + Integer.numberOfLeadingZeros(differing) - (Integer.SIZE - Byte.SIZE);
  }

  /** Adds the peer's scope to a link-local IPv6 address, which is unusable without a scope. */
  private static InetAddress scoped(InetAddress own, InetAddress peer) {
    if (!own.isLinkLocalAddress()
        || !(own instanceof Inet6Address)
        || !(peer instanceof Inet6Address scope)) {
      return own;
    }
    try {
      return Inet6Address.getByAddress(null, own.getAddress(), scope.getScopeId());
    } catch (UnknownHostException e) {
      throw new AssertionError("16 bytes are an address", e);
    }
  }

  /** Converts a GID, which on RoCE is an IPv6 address or an IPv4-mapped IPv6 address. */
  private static InetAddress inetAddress(Gid gid) {
    byte[] bytes = new byte[16];
    ByteBuffer.wrap(bytes).putLong(gid.high()).putLong(gid.low());
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new AssertionError("16 bytes are an address", e);
    }
  }
}
