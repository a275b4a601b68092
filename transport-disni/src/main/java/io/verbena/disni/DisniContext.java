// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.AsyncWords;
import io.verbena.disni.core.Words.DeviceWords;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
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
 * or port an event is about.
 */
final class DisniContext {
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
  private final int ports;
  private final int vectors;
  private final AtomicInteger lastVector = new AtomicInteger();
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
    ports = words.getInt(DeviceWords.PHYS_PORT_CNT);
    attributes = readAttributes(words, firmware);
    vectors = Math.max(1, words.getInt(DeviceWords.COMP_VECTORS));
    // Nothing is woken by it: waits for events are short slices. It stays open with the process.
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
    return deviceNames(core, 64);
  }

  /** The same, asked again where there are more than {@code expected}, as with many functions. */
  static List<String> deviceNames(RdmaCore core, int expected) {
    Block block = new Block(NAME_SIZE * expected);
    int count = Errno.check("list devices", core.deviceNames(block.address(), expected));
    if (count > expected) {
      return deviceNames(core, count);
    }
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
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

  RdmaCore core() {
    return core;
  }

  /** Returns how many completion vectors it has. */
  int vectors() {
    return vectors;
  }

  /** Returns how many ports it has; their numbers begin at 1. */
  int ports() {
    return ports;
  }

  DisniPort port(int number) {
    return new DisniPort(core, pointer, name, number);
  }

  /**
   * Marks the device as gone, or of no use any more, and wakes the threads that wait for its
   * events.
   */
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

  /** Returns each completion vector in turn: different interrupts wake the threads that sleep. */
  int nextVector() {
    return Math.floorMod(lastVector.getAndIncrement(), vectors);
  }

  /** Returns what peers may do by queue pairs of connections: all that the device knows. */
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
        port(1).maxMessageSize());
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
    // RFC 5040 has none; of RFC 7306 cxgb4 alone knows those with a WRITE, which no flag shows.
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

  // ---- asynchronous events

  void add(DisniDevice device) {
    devices.add(device);
  }

  void remove(DisniDevice device) {
    devices.remove(device);
  }

  /** Notes the owner of an object, for events about it. */
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

  /**
   * @param about the address of the object, or the number of the port, that it happened to
   */
  private void raise(int code, long about) {
    AsyncEvent.Type type = type(code);
    if (type == AsyncEvent.Type.DEVICE_FATAL) {
      fail();
      devices.forEach(device -> device.raise(new AsyncEvent(type, null)));
    } else if (type == AsyncEvent.Type.PORT_ACTIVE || type == AsyncEvent.Type.PORT_ERR) {
      devices.stream()
          .filter(device -> device.at().number() == about)
          .forEach(device -> device.raise(new AsyncEvent(type, null)));
    } else if (type != null) {
      Element element = elements.get(about);
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
