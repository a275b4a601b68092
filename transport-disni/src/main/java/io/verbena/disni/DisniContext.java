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
 * An {@code ibv_context}, which librdmacm opens once per device and process. Holds the attributes
 * of the device and the objects on it, and hands each asynchronous event to the {@link DisniDevice}
 * that owns the object or the port of the event.
 */
final class DisniContext {
  private static final int NAME_SIZE = 64;
  private static final long EVENT_SLICE_NANOS = 100_000_000;
  private static final ConcurrentHashMap<Long, DisniContext> BY_POINTER = new ConcurrentHashMap<>();

  /** An object that asynchronous events may report, with the device that owns it. */
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
    // Nothing writes to it: threads wait for events in short slices. It is never closed.
    wakeupFd = Errno.check("eventfd", core.openWakeup());
  }

  static DisniContext of(RdmaCore core, long pointer) {
    return BY_POINTER.computeIfAbsent(pointer, p -> new DisniContext(core, p));
  }

  /** Returns the context of the device of this name; librdmacm never closes it. */
  static long named(RdmaCore core, String name) {
    Block text = new Block(NAME_SIZE);
    text.bytes().put(0, name.getBytes(StandardCharsets.UTF_8));
    long context = core.context(text.address());
    text.keep();
    return Errno.check("open device", context);
  }

  /** Returns the name of a context's device. */
  static String name(RdmaCore core, long pointer) {
    Block text = new Block(NAME_SIZE);
    Errno.check("device name", core.deviceName(pointer, text.address()));
    return text.text(0, NAME_SIZE);
  }

  /** Returns the names of the devices that librdmacm sees. */
  static List<String> deviceNames(RdmaCore core) {
    return deviceNames(core, 64);
  }

  /** Returns the names; asks a second time if there are more than {@code expected}. */
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

  /** Returns the number of completion vectors, at least 1. */
  int vectors() {
    return vectors;
  }

  /** Returns the number of ports; port numbers begin at 1. */
  int ports() {
    return ports;
  }

  DisniPort port(int number) {
    return new DisniPort(core, pointer, name, number);
  }

  /** Marks the device as failed, and wakes the threads that wait for its connection events. */
  void fail() {
    failed = true;
    devices.forEach(DisniDevice::wakeManagers);
  }

  boolean hasFailed() {
    return failed;
  }

  /** Returns the exception for a call on a device that has failed. */
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

  /**
   * Returns the completion vectors in turn, so that different interrupts wake different threads.
   */
  int nextVector() {
    return Math.floorMod(lastVector.getAndIncrement(), vectors);
  }

  /** Returns the remote rights of the queue pairs of connections: all that the device supports. */
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
   * Returns the lock on queue pair numbers, because a driver may assign a freed number again at
   * once. Creating a queue pair takes the read lock. Destroying one that uses a shared receive
   * queue takes the write lock, until all completions with the freed number are purged.
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

  /** Converts an unsigned 64-bit limit; the result is {@link Long#MAX_VALUE} if it does not fit. */
  private static long atLeastZero(long unsigned) {
    return unsigned < 0 ? Long.MAX_VALUE : unsigned;
  }

  /**
   * Reads the capabilities from {@code enum ibv_device_cap_flags}; where no flag exists, by trial.
   */
  private Set<Capability> capabilities(Block words, int maxInline, Probe probe) {
    long flags = words.get(DeviceWords.DEVICE_CAP_FLAGS);
    EnumSet<Capability> capabilities = EnumSet.noneOf(Capability.class);
    // The iWARP drivers siw and irdma end the connection when a queue pair goes to SQD.
    add(capabilities, Capability.SEND_QUEUE_DRAIN, !quirks.isIwarp());
    // RFC 5040 has no immediate data. Of RFC 7306, only cxgb4 has WRITE with immediate data, and no
    // flag reports it.
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

  /** Registers the owner of an object, for asynchronous events of that object. */
  void created(long element, DisniDevice device, Object object) {
    elements.put(element, new Element(device, object));
  }

  void destroyed(long element) {
    elements.remove(element);
  }

  /**
   * Reads one asynchronous event and hands it to the devices concerned, unless another thread is
   * reading.
   *
   * @return false if another thread is reading
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
          // Before the acknowledgement: after it the pointer may belong to another object.
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
   * @param about the pointer of the object, or the number of the port, that the event reports
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

  /**
   * Maps {@code enum ibv_event_type}. Returns null for events that the SPI does not have, such as
   * path migration and changes of the GID, P_Key and LID tables.
   */
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
