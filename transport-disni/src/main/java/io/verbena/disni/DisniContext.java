// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.address.DisniAddress;
import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.AsyncWords;
import io.verbena.disni.core.Words.DeviceWords;
import io.verbena.disni.core.Words.ModerationWords;
import io.verbena.disni.core.Words.PortWords;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * A device as librdmacm has it open, once for the whole process: what it is, which objects it has,
 * and the one stream of its asynchronous events, which goes to the {@link DisniDevice} whose object
 * an event is about.
 */
final class DisniContext {
  static final int PORT = 1;

  /** {@code IBV_LINK_LAYER_INFINIBAND}. */
  private static final int LINK_INFINIBAND = 1;

  private static final int NAME_SIZE = 64;
  private static final long EVENT_SLICE_NANOS = 100_000_000;
  private static final ConcurrentHashMap<Long, DisniContext> BY_POINTER = new ConcurrentHashMap<>();

  /** An object that events may be about, and whose it is. */
  private record Element(DisniDevice device, Object object) {}

  private final long pointer;
  private final RdmaCore core;
  private final String name;
  private final DeviceAttributes attributes;
  private final DeviceQuirks quirks;
  private final int vectors;
  private final AtomicInteger lastVector = new AtomicInteger();
  private final HardwareCounters counters;
  private final SlotHolders queues = new SlotHolders();
  private final Posters posters = new Posters();
  private final ReadWriteLock numbers = new ReentrantReadWriteLock();
  private final ConcurrentHashMap<Long, Element> elements = new ConcurrentHashMap<>();
  private final CopyOnWriteArrayList<DisniDevice> devices = new CopyOnWriteArrayList<>();
  private final ReentrantLock reading = new ReentrantLock();
  private final Block event = Block.of(AsyncWords.values());
  private final int wakeupFd;
  private volatile boolean failed;

  private DisniContext(RdmaCore core, long pointer) {
    this.core = core;
    this.pointer = pointer;
    name = name(core, pointer);
    Block words = Block.of(DeviceWords.values());
    Block firmware = new Block(NAME_SIZE);
    Errno.check("query device", core.queryDevice(pointer, words.address(), firmware.address()));
    quirks =
        DeviceQuirks.of(words.getInt(DeviceWords.VENDOR_ID), words.getInt(DeviceWords.TRANSPORT));
    attributes = readAttributes(words, firmware);
    vectors = Math.max(1, words.getInt(DeviceWords.COMP_VECTORS));
    counters = HardwareCounters.of(name, PORT);
    // Nobody is woken by it: waits for events are short slices. It stays open with the process.
    wakeupFd = Errno.check("eventfd", core.openWakeup());
  }

  static DisniContext of(RdmaCore core, long pointer) {
    return BY_POINTER.computeIfAbsent(pointer, p -> new DisniContext(core, p));
  }

  /** The context of a device by name, which stays open with the process. */
  static long named(RdmaCore core, String name) {
    Block text = new Block(NAME_SIZE);
    text.bytes().put(0, name.getBytes(StandardCharsets.UTF_8));
    long context = core.context(text.address());
    text.keep();
    return Errno.check("open device", context);
  }

  /** The name of a context's device. */
  static String name(RdmaCore core, long pointer) {
    Block text = new Block(NAME_SIZE);
    Errno.check("device name", core.deviceName(pointer, text.address()));
    return text.text(0, NAME_SIZE);
  }

  /** The names of the devices that librdmacm sees. */
  static List<String> deviceNames(RdmaCore core) {
    Block block = new Block(NAME_SIZE * 64);
    int count = Errno.check("list devices", core.deviceNames(block.address(), 64));
    List<String> names = new ArrayList<>();
    for (int i = 0; i < Math.min(count, 64); i++) {
      names.add(block.text(i * NAME_SIZE, NAME_SIZE));
    }
    return List.copyOf(names);
  }

  long pointer() {
    return pointer;
  }

  String name() {
    return name;
  }

  DeviceAttributes attributes() {
    return attributes;
  }

  DeviceQuirks quirks() {
    return quirks;
  }

  HardwareCounters counters() {
    return counters;
  }

  /** The device is gone, or of no use any more; whoever waits for its events is told. */
  void fail() {
    failed = true;
    devices.forEach(DisniDevice::wakeManagers);
  }

  boolean hasFailed() {
    return failed;
  }

  /** The error of what cannot be done on a device that has failed. */
  VerbsException failure(String verb) {
    return new VerbsException(
        VerbsError.IO, verb + ": device " + name + " has failed (DEVICE_FATAL)");
  }

  /**
   * @throws VerbsException {@code IO} if the device has failed
   */
  void requireWorking(String verb) {
    if (failed) {
      throw failure(verb);
    }
  }

  /** Each completion vector in turn: those who sleep are woken by different interrupts. */
  int nextVector() {
    return Math.floorMod(lastVector.getAndIncrement(), vectors);
  }

  /**
   * Checks what an address asks of this device.
   *
   * @throws VerbsException {@code INVALID} for a number that it does not have, {@code
   *     NOT_SUPPORTED} for an option that its kind does not have
   */
  void check(URI address, DisniAddress asked) {
    if (asked.vector() >= vectors) {
      throw new VerbsException(
          VerbsError.INVALID, refusal(address, "vector", asked.vector(), "0.." + (vectors - 1)));
    }
    if (quirks.isIwarp()) {
      refuse(address, "gid", asked.gid(), "RoCE");
      refuse(address, "ack-timeout", asked.ackTimeout(), "RoCE or InfiniBand");
      refuse(address, "rnr-timer", asked.rnrTimer(), "RoCE or InfiniBand");
    }
    if (asked.gid() != DisniAddress.UNSET) {
      if (isInfiniBand()) {
        // Its GIDs are no addresses of its interfaces.
        refuse(address, "gid", asked.gid(), "RoCE");
      }
      int gids = gidsFor(asked.gid());
      if (asked.gid() >= gids) {
        throw new VerbsException(
            VerbsError.INVALID, refusal(address, "gid", asked.gid(), "0.." + (gids - 1)));
      }
    }
    if (asked.cqCount() != DisniAddress.UNSET) {
      Block limits = Block.of(ModerationWords.values());
      Errno.check("query device", core.queryModeration(pointer, limits.address()));
      limit(address, "cq-count", asked.cqCount(), limits.getInt(ModerationWords.MAX_COUNT));
      limit(address, "cq-period", asked.cqPeriod(), limits.getInt(ModerationWords.MAX_PERIOD));
    }
  }

  private void refuse(URI address, String option, int value, String where) {
    if (value != DisniAddress.UNSET) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          refusal(address, option, value, "none: " + name + " is no device of " + where));
    }
  }

  private void limit(URI address, String option, int value, int most) {
    if (most == 0) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          refusal(
              address, option, value, "none: " + name + " does not moderate completion queues"));
    }
    if (value > most) {
      throw new VerbsException(VerbsError.INVALID, refusal(address, option, value, "1.." + most));
    }
  }

  private static String refusal(URI address, String option, int value, String expected) {
    return "address: " + address + " " + option + ": " + value + " (expected: " + expected + ")";
  }

  /** What peers may do by queue pairs of connections: all that the device knows. */
  Set<Access> remoteRights() {
    return attributes.supports(Capability.ATOMICS)
        ? EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC)
        : EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE);
  }

  SlotHolders queues() {
    return queues;
  }

  Posters posters() {
    return posters;
  }

  /**
   * The numbers of queue pairs, of which drivers give out again at once what is free: for reading
   * while a queue pair is made, for writing until nothing is left under a number that was freed.
   */
  ReadWriteLock numbers() {
    return numbers;
  }

  private DeviceAttributes readAttributes(Block words, Block firmware) {
    Block port = readPort(PORT);
    Probe probe = new Probe(core, pointer);
    int maxSge = words.getInt(DeviceWords.MAX_SGE);
    int maxInline = probe.maxInlineData();
    if (maxInline == 0 && !probe.hasQueuePairs(QueuePairType.RC)) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          "open "
              + name
              + ": the device has no reliable connections (RC), as EFA has none (expected: an RNIC"
              + " of RoCE, InfiniBand or iWARP, or Soft-RoCE)");
    }
    return new DeviceAttributes(
        name,
        firmware.text(0, NAME_SIZE),
        capabilities(words, maxInline, probe),
        words.getInt(DeviceWords.MAX_QP),
        words.getInt(DeviceWords.MAX_QP_WR),
        maxSge,
        maxInline,
        words.getInt(DeviceWords.MAX_CQ),
        words.getInt(DeviceWords.MAX_CQE),
        words.getInt(DeviceWords.MAX_MR),
        atLeastZero(words.get(DeviceWords.MAX_MR_SIZE)),
        words.getInt(DeviceWords.MAX_PD),
        words.getInt(DeviceWords.MAX_MW),
        words.getInt(DeviceWords.MAX_AH),
        words.getInt(DeviceWords.MAX_SRQ),
        words.getInt(DeviceWords.MAX_SRQ_WR),
        words.getInt(DeviceWords.MAX_QP_RD_ATOM),
        words.getInt(DeviceWords.MAX_QP_INIT_RD_ATOM),
        (int) Math.min(Integer.MAX_VALUE, port.get(PortWords.MAX_MSG_SZ) & 0xffff_ffffL));
  }

  /** An unsigned 64-bit limit as a signed one. */
  private static long atLeastZero(long unsigned) {
    return unsigned < 0 ? Long.MAX_VALUE : unsigned;
  }

  /** By {@code enum ibv_device_cap_flags}, and by trial where there is no flag. */
  private Set<Capability> capabilities(Block words, int maxInline, Probe probe) {
    long flags = words.get(DeviceWords.DEVICE_CAP_FLAGS);
    EnumSet<Capability> capabilities = EnumSet.noneOf(Capability.class);
    // To iWARP's drivers SQD is the end of the connection (siw, irdma).
    add(capabilities, Capability.SEND_QUEUE_DRAIN, !quirks.isIwarp());
    // RFC 5040 has none; of RFC 7306 cxgb4 alone knows those with a WRITE, which no flag tells.
    add(capabilities, Capability.IMMEDIATE_DATA, !quirks.isIwarp());
    add(capabilities, Capability.SEND_WITH_IMMEDIATE, !quirks.isIwarp());
    add(capabilities, Capability.LOCAL_READ_SINKS, !quirks.isIwarp());
    add(capabilities, Capability.ADDRESS_VECTORS, !quirks.isIwarp());
    add(capabilities, Capability.REQUEST_STATUS, !quirks.isIwarp());
    add(capabilities, Capability.UNRELIABLE_CONNECTED, probe.hasQueuePairs(QueuePairType.UC));
    add(capabilities, Capability.UNRELIABLE_DATAGRAM, probe.hasQueuePairs(QueuePairType.UD));
    add(capabilities, Capability.INLINE_DATA, maxInline > 0);
    add(
        capabilities,
        Capability.ATOMICS,
        words.get(DeviceWords.ATOMIC_CAP) != 0 && !quirks.isIwarp());
    add(capabilities, Capability.SHARED_RECEIVE_QUEUE, words.get(DeviceWords.MAX_SRQ) > 0);
    add(capabilities, Capability.MEMORY_WINDOW_TYPE_1, (flags & 1 << 17) != 0);
    add(capabilities, Capability.MEMORY_WINDOW_TYPE_2B, (flags & 1 << 24) != 0);
    add(capabilities, Capability.SEND_WITH_INVALIDATE, (flags & 1 << 21) != 0);
    add(
        capabilities,
        Capability.LOCAL_INVALIDATE,
        (flags & 1 << 21) != 0 && !quirks.keepsOwnKeys());
    add(capabilities, Capability.REREGISTRATION, probe.reregisters());
    add(capabilities, Capability.COMPLETION_QUEUE_RESIZE, probe.resizesCompletionQueues());
    return capabilities;
  }

  private static void add(EnumSet<Capability> to, Capability capability, boolean has) {
    if (has) {
      to.add(capability);
    }
  }

  private Block readPort(int port) {
    Block words = Block.of(PortWords.values());
    Errno.check("query port", core.queryPort(pointer, port, words.address()));
    return words;
  }

  private boolean isInfiniBand() {
    return readPort(PORT).getInt(PortWords.LINK_LAYER) == LINK_INFINIBAND;
  }

  /** 1 if a port is one of InfiniBand, 0 if it is another, or a negative errno. */
  int isInfiniBand(int port) {
    Block words = Block.of(PortWords.values());
    int done = core.queryPort(pointer, port, words.address());
    return done < 0 ? done : words.getInt(PortWords.LINK_LAYER) == LINK_INFINIBAND ? 1 : 0;
  }

  /** Whether two of a port's GIDs are the same address; their types may differ. */
  boolean isSameGid(int port, int one, int other) {
    Block gid = new Block(16);
    Block second = new Block(16);
    return core.queryGid(pointer, port, one, gid.address()) >= 0
        && core.queryGid(pointer, port, other, second.address()) >= 0
        && gid.bytes().getLong(0) == second.bytes().getLong(0)
        && gid.bytes().getLong(Long.BYTES) == second.bytes().getLong(Long.BYTES);
  }

  PortAttributes port() {
    Block words = readPort(PORT);
    int active = 4;
    return new PortAttributes(
        words.getInt(PortWords.STATE) == active,
        mtu(words.getInt(PortWords.MAX_MTU)),
        mtu(words.getInt(PortWords.ACTIVE_MTU)),
        gids(words.getInt(PortWords.GID_TBL_LEN)),
        words.getInt(PortWords.LINK_LAYER) == LINK_INFINIBAND ? words.getInt(PortWords.LID) : 0);
  }

  static Mtu mtu(int code) {
    for (Mtu mtu : Mtu.values()) {
      if (mtu.code() == code) {
        return mtu;
      }
    }
    return Mtu.MTU_256;
  }

  /**
   * How many GIDs there are, or as many as it takes for an index that is one of them: a table may
   * have 256, each of which is a question to the kernel.
   */
  int gidsFor(int index) {
    Block gid = new Block(16);
    boolean isGid =
        index >= 0
            && core.queryGid(pointer, PORT, index, gid.address()) >= 0
            && (gid.bytes().getLong(0) | gid.bytes().getLong(Long.BYTES)) != 0;
    return isGid ? index + 1 : port().gids().size();
  }

  /** Up to the last one that is set, so that an index into the list is a GID index. */
  private List<Gid> gids(int tableLength) {
    List<Gid> gids = new ArrayList<>();
    int used = 0;
    Block block = new Block(16);
    for (int index = 0; index < tableLength; index++) {
      Gid gid = readGid(index, block);
      gids.add(gid);
      if (gid.high() != 0 || gid.low() != 0) {
        used = index + 1;
      }
    }
    return gids.subList(0, used);
  }

  private Gid readGid(int index, Block block) {
    int type = core.queryGid(pointer, PORT, index, block.address());
    if (type == -Errno.ENODATA || type == -Errno.ENOENT) {
      return new Gid(0, 0);
    }
    Errno.check("query GID " + index, type);
    var bytes = block.bytes().duplicate().order(ByteOrder.BIG_ENDIAN);
    return new Gid(bytes.getLong(0), bytes.getLong(8));
  }

  // ---- addresses

  /**
   * Whether packets on this way need a GRH: on Ethernet always, on InfiniBand where no LID leads to
   * the peer, or it is in another subnet.
   */
  boolean needsRoute(AddressVector vector) {
    if (!isInfiniBand() || vector.lid() == 0) {
      return true;
    }
    Gid to = vector.destination();
    boolean isNone = to.high() == 0 && to.low() == 0;
    Gid own = readGid(vector.sourceGidIndex(), new Block(16));
    return !isNone && to.high() != own.high();
  }

  /**
   * The address to connect from that an address asks for, or null if it leaves that to the route.
   */
  @Nullable InetAddress source(DisniAddress parsed) {
    InetAddress peer = parsed.socket().getAddress();
    if (parsed.source() != null) {
      return parsed.source();
    }
    if (parsed.gid() != DisniAddress.UNSET) {
      return scoped(addressOfGid(parsed.gid()), peer);
    }
    return parsed.device() == null ? null : nearest(peer);
  }

  InetAddress addressOfGid(int index) {
    return inetAddress(readGid(index, new Block(16)));
  }

  /**
   * The device's address that has most leading bits in common with the peer's: of several networks
   * or VLANs the one that the peer is in. Null if none is of its family.
   */
  private @Nullable InetAddress nearest(InetAddress peer) {
    InetAddress nearest = null;
    int most = -1;
    for (Gid gid : port().gids()) {
      InetAddress own = inetAddress(gid);
      boolean needsScope = own instanceof Inet6Address && own.isLinkLocalAddress();
      boolean fits =
          own.getAddress().length == peer.getAddress().length
              && !own.isAnyLocalAddress()
              && (!needsScope || peer.isLinkLocalAddress());
      int common = fits ? commonBits(own.getAddress(), peer.getAddress()) : -1;
      if (common > most) {
        most = common;
        nearest = scoped(own, peer);
      }
    }
    return nearest;
  }

  private static int commonBits(byte[] one, byte[] other) {
    int at = Arrays.mismatch(one, other);
    if (at < 0) {
      return one.length * Byte.SIZE;
    }
    int differing = Byte.toUnsignedInt((byte) (one[at] ^ other[at]));
    return at * Byte.SIZE + Integer.numberOfLeadingZeros(differing) - (Integer.SIZE - Byte.SIZE);
  }

  /** A link-local address is none without a scope: it has that of the peer, if the peer has one. */
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

  // ---- asynchronous events

  void add(DisniDevice device) {
    devices.add(device);
  }

  void remove(DisniDevice device) {
    devices.remove(device);
  }

  /** Says whose object this is, for events about it. */
  void created(long element, DisniDevice device, Object object) {
    elements.put(element, new Element(device, object));
  }

  void destroyed(long element) {
    elements.remove(element);
  }

  /**
   * Reads one event of the device and hands it to whom it concerns, if no other thread is at it.
   *
   * @return false if another one is
   */
  boolean readEvent(long leftNanos) {
    if (!reading.tryLock()) {
      return false;
    }
    try {
      int millis = (int) ((Math.min(EVENT_SLICE_NANOS, leftNanos) + 999_999) / 1_000_000);
      int came = core.asyncEvent(pointer, wakeupFd, millis, event.address());
      if (Errno.check("get async event", came) > 0) {
        try {
          // Before: behind it the pointer may be another object's.
          raise(event.getInt(AsyncWords.TYPE), event.get(AsyncWords.ELEMENT));
        } finally {
          core.acknowledgeAsyncEvent(event.address());
        }
      }
      return true;
    } finally {
      reading.unlock();
    }
  }

  private void raise(int code, long address) {
    AsyncEvent.Type type = type(code);
    if (type == AsyncEvent.Type.DEVICE_FATAL) {
      fail();
    }
    if (type == AsyncEvent.Type.DEVICE_FATAL
        || type == AsyncEvent.Type.PORT_ACTIVE
        || type == AsyncEvent.Type.PORT_ERR) {
      devices.forEach(device -> device.raise(new AsyncEvent(type, null)));
    } else if (type != null) {
      Element element = elements.get(address);
      if (element != null) {
        element.device.raise(new AsyncEvent(type, element.object));
      }
    }
  }

  /** By {@code enum ibv_event_type}; those of paths and of tables have no name in the SPI. */
  private static AsyncEvent.@Nullable Type type(int code) {
    return switch (code) {
      case 0 -> AsyncEvent.Type.CQ_ERR;
      case 1 -> AsyncEvent.Type.QP_FATAL;
      case 2 -> AsyncEvent.Type.QP_REQ_ERR;
      case 3 -> AsyncEvent.Type.QP_ACCESS_ERR;
      case 4 -> AsyncEvent.Type.COMM_EST;
      case 5 -> AsyncEvent.Type.SQ_DRAINED;
      case 8 -> AsyncEvent.Type.DEVICE_FATAL;
      case 9 -> AsyncEvent.Type.PORT_ACTIVE;
      case 10 -> AsyncEvent.Type.PORT_ERR;
      case 14 -> AsyncEvent.Type.SRQ_ERR;
      case 15 -> AsyncEvent.Type.SRQ_LIMIT_REACHED;
      case 16 -> AsyncEvent.Type.QP_LAST_WQE_REACHED;
      default -> null;
    };
  }
}
