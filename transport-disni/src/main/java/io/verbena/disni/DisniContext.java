// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.AsyncWords;
import io.verbena.disni.core.Words.DeviceWords;
import io.verbena.disni.core.Words.PortWords;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A device as librdmacm has it open, once for the whole process: what it is, which objects it has,
 * and the one stream of its asynchronous events, which goes to the {@link DisniDevice} whose object
 * an event is about.
 */
final class DisniContext {
  static final int PORT = 1;

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
  private final HardwareCounters counters;
  private final SlotHolders queues = new SlotHolders();
  private final ConcurrentHashMap<Long, Element> elements = new ConcurrentHashMap<>();
  private final CopyOnWriteArrayList<DisniDevice> devices = new CopyOnWriteArrayList<>();
  private final ReentrantLock reading = new ReentrantLock();
  private final Block event = Block.of(AsyncWords.values());
  private final int wakeupFd;

  private DisniContext(RdmaCore core, long pointer) {
    this.core = core;
    this.pointer = pointer;
    name = name(core, pointer);
    Block words = Block.of(DeviceWords.values());
    Block firmware = new Block(NAME_SIZE);
    Errno.check("query device", core.queryDevice(pointer, words.address(), firmware.address()));
    attributes = readAttributes(words, firmware);
    quirks = DeviceQuirks.of(words.getInt(DeviceWords.VENDOR_ID));
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

  SlotHolders queues() {
    return queues;
  }

  private DeviceAttributes readAttributes(Block words, Block firmware) {
    Block port = readPort();
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
  private static Set<Capability> capabilities(Block words, int maxInline, Probe probe) {
    long flags = words.get(DeviceWords.DEVICE_CAP_FLAGS);
    EnumSet<Capability> capabilities =
        EnumSet.of(Capability.IMMEDIATE_DATA, Capability.SEND_QUEUE_DRAIN);
    add(capabilities, Capability.UNRELIABLE_CONNECTED, probe.hasQueuePairs(QueuePairType.UC));
    add(capabilities, Capability.UNRELIABLE_DATAGRAM, probe.hasQueuePairs(QueuePairType.UD));
    add(capabilities, Capability.INLINE_DATA, maxInline > 0);
    add(capabilities, Capability.ATOMICS, words.get(DeviceWords.ATOMIC_CAP) != 0);
    add(capabilities, Capability.SHARED_RECEIVE_QUEUE, words.get(DeviceWords.MAX_SRQ) > 0);
    add(capabilities, Capability.MEMORY_WINDOW_TYPE_1, (flags & 1 << 17) != 0);
    add(capabilities, Capability.MEMORY_WINDOW_TYPE_2B, (flags & 1 << 24) != 0);
    add(capabilities, Capability.SEND_WITH_INVALIDATE, (flags & 1 << 21) != 0);
    add(capabilities, Capability.LOCAL_INVALIDATE, (flags & 1 << 21) != 0);
    add(capabilities, Capability.REREGISTRATION, probe.reregisters());
    add(capabilities, Capability.COMPLETION_QUEUE_RESIZE, probe.resizesCompletionQueues());
    return capabilities;
  }

  private static void add(EnumSet<Capability> to, Capability capability, boolean has) {
    if (has) {
      to.add(capability);
    }
  }

  private Block readPort() {
    Block words = Block.of(PortWords.values());
    Errno.check("query port", core.queryPort(pointer, PORT, words.address()));
    return words;
  }

  PortAttributes port() {
    Block words = readPort();
    int active = 4;
    return new PortAttributes(
        words.getInt(PortWords.STATE) == active,
        mtu(words.getInt(PortWords.MAX_MTU)),
        mtu(words.getInt(PortWords.ACTIVE_MTU)),
        gids(words.getInt(PortWords.GID_TBL_LEN)));
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
