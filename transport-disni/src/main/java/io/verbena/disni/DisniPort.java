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

/** One port of a device: its link, its table of GIDs, and the addresses that these are. */
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
   * @param context of the device
   * @param device its name
   * @param number of the port, from 1
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

  /** Looks which counters of the kernel there are. */
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

  /** 1 if it is one of InfiniBand, 0 if it is another, or a negative errno. */
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
   * Up to the last one that is set, so that an index into the list is a GID index. Asked for at
   * once: a table may have 1024 places, and each question is a system call.
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

  /** Returns how many GIDs there are, or as many as it takes for an index that is one of them. */
  int gidsFor(int index) {
    Block gid = new Block(GID_BYTES);
    boolean isGid =
        index >= 0
            && core.queryGid(context, number, index, gid.address()) >= 0
            && (gid.bytes().getLong(0) | gid.bytes().getLong(Long.BYTES)) != 0;
    return isGid ? index + 1 : gids().size();
  }

  /** Returns whether two of its GIDs are the same address; their types may differ. */
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
   * Returns whether packets on this way need a GRH: on Ethernet always, on InfiniBand where no LID
   * leads to the peer, or it is in another subnet.
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
   * The address to connect from that an address asks for, or null if it leaves that to the route.
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
   * The port's address that has most leading bits in common with the peer's: of several networks or
   * VLANs the one that the peer is in. Null if none is of its family.
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
   * Returns how many leading bits its nearest address has in common with the peer's; -1 if it has
   * none.
   */
  int nearness(InetAddress peer) {
    InetAddress nearest = nearest(peer);
    return nearest == null ? -1 : commonBits(nearest, peer);
  }

  /** Leading bits that are the same; -1 if one cannot be connected to from the other. */
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

  /** Adds the peer's scope to a link-local address, which is unusable without one. */
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

  /** On RoCE a GID is an IPv6 address, or an IPv4 address mapped into one. */
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
