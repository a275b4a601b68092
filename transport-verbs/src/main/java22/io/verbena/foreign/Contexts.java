// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import io.verbena.disni.core.Words.DeviceWords;
import io.verbena.disni.core.Words.ModerationWords;
import io.verbena.disni.core.Words.PortWords;
import io.verbena.foreign.Function.Failure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;

/**
 * The devices that librdmacm has open, and their attributes.
 *
 * <p>librdmacm closes the context of a removed device when no object of librdmacm uses it; it does
 * not know the objects that Verbena creates on the context. So each context that was returned is
 * kept open for ever: by an identifier that is bound to the device, or, if the device has no
 * address to bind to, by a list of devices, which keeps all of them open.
 */
final class Contexts {
  private static final int ENODEV = 19;
  private static final int ENOSYS = 38;
  private static final int EOPNOTSUPP = 95;
  private static final int NAME_SIZE = 64;
  private static final int PORT_SPACE_TCP = 0x0106;
  private static final long EXTENDED = -1;
  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int SOCKADDR_STORAGE = 128;
  static final int GID_BYTES = 16;

  /**
   * libibverbs refuses an ioctl attribute of more than 65,535 bytes with EINVAL ({@code
   * fill_attr_out} in {@code libibverbs/cmd_ioctl.h}). Only GIDs that are set take an entry.
   */
  private static final int MOST_GIDS = 0xffff / Structures.GID_SIZE;

  private static final long IPV4_MAPPED = 0xffffL;
  private static final long LINK_LOCAL = 0xfe80_0000_0000_0000L;
  private static final long LINK_LOCAL_MASK = 0xffc0_0000_0000_0000L;

  private final Function getDevices;
  private final Function freeDevices;
  private final Function getDeviceName;
  private final Function queryDevice;
  private final Function queryPort;
  private final Function queryGid;
  private final Function queryGidTable;
  private final Function createEventChannel;
  private final Function destroyEventChannel;
  private final Function createId;
  private final Function destroyId;
  private final Function bindAddress;
  private final Set<Long> kept = new HashSet<>();

  Contexts(Libraries from) {
    getDevices = from.function("rdma_get_devices", Failure.NULL, "P");
    freeDevices = from.function("rdma_free_devices", Failure.NONE, "P");
    getDeviceName = from.function("ibv_get_device_name", Failure.NULL, "P");
    queryDevice = from.function("ibv_query_device", Failure.STATUS, "PP");
    queryPort = from.function("ibv_query_port", Failure.STATUS, "PBP");
    queryGid = from.function("_ibv_query_gid_ex", Failure.STATUS, "PIIPIP");
    queryGidTable = from.function("_ibv_query_gid_table", Failure.MINUS_ONE, "PPPIP");
    createEventChannel = from.function("rdma_create_event_channel", Failure.NULL, "");
    destroyEventChannel = from.function("rdma_destroy_event_channel", Failure.NONE, "P");
    createId = from.function("rdma_create_id", Failure.MINUS_ONE, "PPPI");
    destroyId = from.function("rdma_destroy_id", Failure.MINUS_ONE, "P");
    bindAddress = from.function("rdma_bind_addr", Failure.MINUS_ONE, "PP");
  }

  /** Returns the address of the name of a context's device. */
  long name(long context) {
    return getDeviceName.call(Memory.getLong(context + Structures.CONTEXT_DEVICE));
  }

  /** Writes the names, 64 bytes each; returns how many there are, or a negative errno. */
  int names(long names, int capacity) {
    long list = devices();
    if (list <= 0) {
      return (int) list;
    }
    int count = 0;
    for (long at = list; Memory.getLong(at) != 0; at += Long.BYTES, count++) {
      if (count < capacity) {
        Memory.copyText(name(Memory.getLong(at)), names + (long) count * NAME_SIZE, NAME_SIZE);
      }
    }
    freeDevices.call(list);
    return count;
  }

  /** Returns a list that ends with NULL; 0 if there is no device; or a negative errno. */
  private long devices() {
    try (Arena arena = Arena.ofConfined()) {
      long list = getDevices.call(ForeignCore.allocate(arena, Integer.BYTES));
      return list == -ENODEV ? 0 : list;
    }
  }

  /** Returns the context of the device of this name, which is never closed, or a negative errno. */
  synchronized long named(String name) {
    long list = devices();
    if (list <= 0) {
      return list == 0 ? -ENODEV : list;
    }
    long at = list;
    while (Memory.getLong(at) != 0
        && !name.equals(Memory.text(name(Memory.getLong(at)), NAME_SIZE))) {
      at += Long.BYTES;
    }
    long context = Memory.getLong(at);
    if (context == 0 || !kept.add(context) || hold(context)) {
      freeDevices.call(list);
    }
    return context == 0 ? -ENODEV : context;
  }

  /**
   * Binds an identifier to a device, which keeps its context open; returns whether that worked. The
   * identifier has a channel of its own, which is never read.
   */
  private boolean hold(long context) {
    long channel = createEventChannel.call();
    if (channel < 0) {
      return false;
    }
    try (Arena arena = Arena.ofConfined()) {
      long port = ForeignCore.allocate(arena, Structures.PORT_SIZE);
      long entry = ForeignCore.allocate(arena, Structures.GID_SIZE);
      // Querying a port after the last one fails.
      for (int number = 1; queryPort(context, number, port) >= 0; number++) {
        int gids = Memory.getInt(port + Structures.PORT_GID_TBL_LEN);
        for (int i = 0; i < gids; i++) {
          if (queryGid(context, number, i, entry) == 0 && binds(arena, channel, context, entry)) {
            return true;
          }
        }
      }
    }
    destroyEventChannel.call(channel);
    return false;
  }

  private boolean binds(Arena arena, long channel, long context, long gid) {
    long address = ForeignCore.allocate(arena, SOCKADDR_STORAGE);
    long pointer = ForeignCore.allocate(arena, Long.BYTES);
    if (!isAddress(gid, address) || createId.call(channel, pointer, 0, PORT_SPACE_TCP) < 0) {
      return false;
    }
    long id = Memory.getLong(pointer);
    if (bindAddress.call(id, address) == 0 && Memory.getLong(id + Structures.ID_VERBS) == context) {
      return true;
    }
    destroyId.call(id);
    return false;
  }

  /**
   * Converts a GID of RoCE or iWARP to an IP address; returns false for a link-local GID, which
   * needs a scope.
   */
  private static boolean isAddress(long gid, long address) {
    long high = Attributes.gidHigh(gid);
    long low = Attributes.gidLow(gid);
    if ((high & LINK_LOCAL_MASK) == LINK_LOCAL || (high | low) == 0) {
      return false;
    }
    if (high == 0 && low >>> Integer.SIZE == IPV4_MAPPED) {
      Memory.putShort(address, AF_INET);
      Memory.copy(gid + 12, address + 4, 4);
    } else {
      Memory.putShort(address, AF_INET6);
      Memory.copy(gid, address + 8, 16);
    }
    return true;
  }

  /**
   * Returns the address of an operation of {@code struct verbs_context}, or 0 if the driver does
   * not have it.
   */
  long extended(long context, int before) {
    boolean isExtended = Memory.getLong(context + Structures.contextAbiCompat()) == EXTENDED;
    // As verbs_get_ctx_op: the size from the operation to the end of the context.
    long size = (long) before + Structures.contextAbiCompat() + Long.BYTES;
    if (!isExtended || Memory.getLong(context - Structures.BEFORE_SIZE) < size) {
      return 0;
    }
    return Memory.getLong(context - before) == 0 ? 0 : context - before;
  }

  private int queryPort(long context, int port, long attributes) {
    long at = extended(context, Structures.BEFORE_QUERY_PORT);
    if (at == 0) {
      return queryPort.status(context, port, attributes);
    }
    return Function.of(MemorySegment.ofAddress(Memory.getLong(at)), Failure.STATUS, "PBPP")
        .status(context, port, attributes, Structures.PORT_SIZE);
  }

  int queryPort(long context, int port, WordBlock words) {
    try (Arena arena = Arena.ofConfined()) {
      long from = ForeignCore.allocate(arena, Structures.PORT_SIZE);
      int result = queryPort(context, port, from);
      if (result < 0) {
        return result;
      }
      words.set(PortWords.STATE, Memory.getInt(from + Structures.PORT_STATE));
      words.set(PortWords.MAX_MTU, Memory.getInt(from + Structures.PORT_MAX_MTU));
      words.set(PortWords.ACTIVE_MTU, Memory.getInt(from + Structures.PORT_ACTIVE_MTU));
      words.set(PortWords.GID_TBL_LEN, Memory.getInt(from + Structures.PORT_GID_TBL_LEN));
      words.set(PortWords.MAX_MSG_SZ, Memory.getInt(from + Structures.PORT_MAX_MSG_SZ));
      words.set(PortWords.LID, Memory.getUnsignedShort(from + Structures.PORT_LID));
      words.set(PortWords.LINK_LAYER, Memory.getUnsignedByte(from + Structures.PORT_LINK_LAYER));
      return 0;
    }
  }

  /**
   * Queries the limits of moderation. They are 0 if the driver does not report them, as in {@code
   * ibv_query_device_ex} of the header.
   */
  int queryModeration(long context, WordBlock words) {
    try (Arena arena = Arena.ofConfined()) {
      long from = ForeignCore.allocate(arena, Structures.DEVICE_EX_SIZE);
      long at = extended(context, Structures.BEFORE_QUERY_DEVICE_EX);
      int result =
          at == 0
              ? -EOPNOTSUPP
              : Function.of(MemorySegment.ofAddress(Memory.getLong(at)), Failure.STATUS, "PPPP")
                  .status(context, 0, from, Structures.DEVICE_EX_SIZE);
      if (result < 0 && result != -EOPNOTSUPP && result != -ENOSYS) {
        return result;
      }
      words.set(
          ModerationWords.MAX_COUNT,
          Memory.getUnsignedShort(from + Structures.DEVICE_EX_MAX_CQ_COUNT));
      words.set(
          ModerationWords.MAX_PERIOD,
          Memory.getUnsignedShort(from + Structures.DEVICE_EX_MAX_CQ_PERIOD));
      return 0;
    }
  }

  /**
   * Writes the GIDs of a port that are set, each at its index; returns one more than the highest
   * index, or a negative errno.
   */
  int queryGids(long context, int port, long gids, int length) {
    try (Arena arena = Arena.ofConfined()) {
      long attributes = ForeignCore.allocate(arena, Structures.PORT_SIZE);
      int places = Math.min(gidPlaces(context, attributes) + 1, MOST_GIDS);
      long entries = ForeignCore.allocate(arena, places * Structures.GID_SIZE);
      int set = queryGidTable.status(context, entries, places, 0, Structures.GID_SIZE);
      int used = Math.min(set, 0);
      for (int i = 0; i < set; i++) {
        long entry = entries + (long) i * Structures.GID_SIZE;
        int index = Memory.getInt(entry + Structures.GID_INDEX);
        if (Memory.getInt(entry + Structures.GID_PORT) == port && index < length) {
          Memory.copy(entry, gids + (long) index * GID_BYTES, GID_BYTES);
          used = Math.max(used, index + 1);
        }
      }
      return used;
    }
  }

  /**
   * Returns the number of GID table entries of all ports. Querying a port after the last one fails.
   */
  private int gidPlaces(long context, long port) {
    int places = 0;
    for (int number = 1; queryPort(context, number, port) >= 0; number++) {
      places += Memory.getInt(port + Structures.PORT_GID_TBL_LEN);
    }
    return places;
  }

  /** Fills {@code struct ibv_gid_entry}. */
  int queryGid(long context, int port, int index, long entry) {
    return queryGid.status(context, port, index, entry, 0, Structures.GID_SIZE);
  }

  int queryDevice(long context, WordBlock words, long firmware) {
    try (Arena arena = Arena.ofConfined()) {
      long from = ForeignCore.allocate(arena, Structures.DEVICE_SIZE);
      int result = queryDevice.status(context, from);
      if (result < 0) {
        return result;
      }
      long maxSize = Memory.getLong(from + Structures.DEVICE_MAX_MR_SIZE);
      words.set(DeviceWords.MAX_MR_SIZE, maxSize < 0 ? Long.MAX_VALUE : maxSize);
      words.set(DeviceWords.MAX_QP, Memory.getInt(from + Structures.DEVICE_MAX_QP));
      words.set(DeviceWords.MAX_QP_WR, Memory.getInt(from + Structures.DEVICE_MAX_QP_WR));
      words.set(
          DeviceWords.DEVICE_CAP_FLAGS, Memory.getInt(from + Structures.DEVICE_DEVICE_CAP_FLAGS));
      words.set(DeviceWords.MAX_SGE, Memory.getInt(from + Structures.DEVICE_MAX_SGE));
      words.set(DeviceWords.MAX_CQ, Memory.getInt(from + Structures.DEVICE_MAX_CQ));
      words.set(DeviceWords.MAX_CQE, Memory.getInt(from + Structures.DEVICE_MAX_CQE));
      words.set(DeviceWords.MAX_MR, Memory.getInt(from + Structures.DEVICE_MAX_MR));
      words.set(DeviceWords.MAX_PD, Memory.getInt(from + Structures.DEVICE_MAX_PD));
      words.set(DeviceWords.MAX_QP_RD_ATOM, Memory.getInt(from + Structures.DEVICE_MAX_QP_RD_ATOM));
      words.set(
          DeviceWords.MAX_QP_INIT_RD_ATOM,
          Memory.getInt(from + Structures.DEVICE_MAX_QP_INIT_RD_ATOM));
      words.set(DeviceWords.ATOMIC_CAP, Memory.getInt(from + Structures.DEVICE_ATOMIC_CAP));
      words.set(DeviceWords.MAX_MW, Memory.getInt(from + Structures.DEVICE_MAX_MW));
      words.set(DeviceWords.MAX_AH, Memory.getInt(from + Structures.DEVICE_MAX_AH));
      words.set(DeviceWords.MAX_SRQ, Memory.getInt(from + Structures.DEVICE_MAX_SRQ));
      words.set(DeviceWords.MAX_SRQ_WR, Memory.getInt(from + Structures.DEVICE_MAX_SRQ_WR));
      words.set(
          DeviceWords.PHYS_PORT_CNT,
          Memory.getUnsignedByte(from + Structures.DEVICE_PHYS_PORT_CNT));
      words.set(DeviceWords.VENDOR_ID, Memory.getInt(from + Structures.DEVICE_VENDOR_ID));
      long device = Memory.getLong(context + Structures.CONTEXT_DEVICE);
      words.set(DeviceWords.TRANSPORT, Memory.getInt(device + Structures.IBV_DEVICE_TRANSPORT));
      words.set(DeviceWords.COMP_VECTORS, Memory.getInt(context + Structures.CONTEXT_COMP_VECTORS));
      Memory.copyText(from, firmware, NAME_SIZE);
      return 0;
    }
  }
}
