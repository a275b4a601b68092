// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairCapabilities;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.provider.TransportOpcodes;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Checks requests of a send queue ({@code ibv_post_send(3)}) before they are posted, because a
 * user-space driver may detect a mistake only when the request is already in its queue.
 */
final class SendRules {
  private static final int HIGHEST_NUMBER = 0xff_ffff;

  private static final int REMOTE_RIGHTS =
      Access.REMOTE_READ.bit() | Access.REMOTE_WRITE.bit() | Access.REMOTE_ATOMIC.bit();

  private final QueuePairType type;
  private final QueuePairCapabilities granted;
  private final DeviceAttributes device;
  private final int maxReadBuffers;

  /**
   * The longest inline data of {@link #isPlainInline}; -1 for datagrams and without inline support.
   */
  private final int plainInlineData;

  SendRules(
      QueuePairType type,
      QueuePairCapabilities granted,
      DeviceAttributes device,
      DeviceQuirks quirks) {
    this.type = type;
    this.granted = granted;
    this.device = device;
    maxReadBuffers = quirks.readsIntoOneBuffer() ? 1 : Integer.MAX_VALUE;
    plainInlineData =
        type != QueuePairType.UD && device.supports(Capability.INLINE_DATA)
            ? granted.maxInlineData()
            : -1;
  }

  /**
   * Returns whether the request is a SEND, RDMA_WRITE or RDMA_READ of a connection with one buffer,
   * as most are. Such a request needs no further check.
   */
  boolean isPlain(SendWorkRequest request) {
    boolean plain =
        switch (request.opcode()) {
          case SEND, RDMA_WRITE -> type != QueuePairType.UD;
          case RDMA_READ -> type == QueuePairType.RC;
          default -> false;
        };
    return plain
        && request.buffers().size() == 1
        && (request.flags() & SendWorkRequest.INLINE) == 0
        && granted.maxSendScatterGather() > 0;
  }

  /**
   * Returns whether the request is a SEND or RDMA_WRITE of a connection with inline data that fits.
   * Such a request needs no further check.
   */
  boolean isPlainInline(SendWorkRequest request) {
    ByteBuffer inline = request.inlineData();
    return inline != null
        && inline.remaining() <= plainInlineData
        && (request.opcode() == SendOpcode.RDMA_WRITE || request.opcode() == SendOpcode.SEND);
  }

  /** Returns whether the request holds a pointer to an address handle or to a window. */
  boolean leadsToObjects(SendWorkRequest request) {
    return type == QueuePairType.UD || request.opcode() == SendOpcode.BIND_MW;
  }

  /** Returns why this request is refused, or null if it is not. */
  @Nullable PostException refuse(SendWorkRequest request) {
    PostException refusal = refuseOpcode(request);
    return refusal == null ? refusePayload(request) : refusal;
  }

  private boolean supports(SendOpcode opcode) {
    return TransportOpcodes.has(type, opcode)
        && switch (opcode) {
          case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> device.supports(Capability.ATOMICS);
          case SEND_WITH_IMM -> device.supports(Capability.SEND_WITH_IMMEDIATE);
          case RDMA_WRITE_WITH_IMM -> device.supports(Capability.IMMEDIATE_DATA);
          case SEND_WITH_INV -> device.supports(Capability.SEND_WITH_INVALIDATE);
          case LOCAL_INV -> device.supports(Capability.LOCAL_INVALIDATE);
          case BIND_MW -> device.supports(Capability.MEMORY_WINDOW_TYPE_2B);
          default -> true;
        };
  }

  private @Nullable PostException refuseOpcode(SendWorkRequest request) {
    SendOpcode opcode = request.opcode();
    long id = request.id();
    if (!supports(opcode)) {
      return new PostException(VerbsError.NOT_SUPPORTED, id, "opcode: " + opcode + " on " + type);
    }
    PostException refusal = type == QueuePairType.UD ? refuseWay(request) : null;
    if (refusal != null) {
      return refusal;
    }
    if (opcode == SendOpcode.RDMA_READ) {
      return PostErrors.ofEntries(id, request.buffers().size(), maxReadBuffers);
    }
    return opcode == SendOpcode.BIND_MW ? refuseBind(request, MemoryWindowType.TYPE_2B) : null;
  }

  /** Returns why this bind of a window of type 1 is refused, or null if it is not. */
  @Nullable PostException refuseWindow(SendWorkRequest request) {
    long id = request.id();
    if (!TransportOpcodes.has(type, SendOpcode.BIND_MW)
        || !device.supports(Capability.MEMORY_WINDOW_TYPE_1)) {
      return new PostException(VerbsError.NOT_SUPPORTED, id, "bind memory window on " + type);
    }
    if (request.opcode() != SendOpcode.BIND_MW || request.inlineData() != null) {
      return PostErrors.invalid(id, "opcode: " + request.opcode() + " (expected: BIND_MW)");
    }
    if (request.next() != null) {
      return PostErrors.invalid(id, "a request is linked to the bind (expected: none)");
    }
    return refuseBind(request, MemoryWindowType.TYPE_1);
  }

  /**
   * Checks a bind. It holds native pointers, which must not be passed on if their object is closed.
   */
  private static @Nullable PostException refuseBind(
      SendWorkRequest request, MemoryWindowType expected) {
    long id = request.id();
    if (!(request.window() instanceof DisniMemoryWindow window
        && request.windowRegion() instanceof DisniMemoryRegion region)) {
      return PostErrors.invalid(id, "a bind needs a window and a region of the device");
    }
    if (window.type() != expected) {
      return PostErrors.invalid(id, "window of " + window.type() + " (expected: " + expected + ")");
    }
    int entries = request.buffers().size();
    if (entries > 1 || (expected == MemoryWindowType.TYPE_2B && entries == 0)) {
      return PostErrors.invalid(id, "buffers of a bind: " + entries + " (expected: 1)");
    }
    if (window.isClosed()) {
      return PostErrors.closed(id, "the memory window");
    }
    if (region.isClosed()) {
      return PostErrors.closed(id, "the memory region");
    }
    if (expected == MemoryWindowType.TYPE_1
        && window.protectionDomain() != region.protectionDomain()) {
      return PostErrors.invalid(id, "the region is of another domain than the window");
    }
    return (request.windowAccess() & ~REMOTE_RIGHTS) == 0
        ? null
        : PostErrors.invalid(
            id,
            "access: 0x%x (expected: remote rights only, of 0x%x)"
                .formatted(request.windowAccess(), REMOTE_RIGHTS));
  }

  private static @Nullable PostException refuseWay(SendWorkRequest request) {
    long id = request.id();
    if (!(request.addressHandle() instanceof DisniAddressHandle handle)) {
      return PostErrors.invalid(id, "no address handle of the device");
    }
    if (handle.isClosed()) {
      return PostErrors.invalid(id, "the address handle is closed");
    }
    int number = request.remoteQueuePair();
    return number >= 0 && number <= HIGHEST_NUMBER
        ? null
        : PostErrors.invalid(
            id, "remote queue pair: " + number + " (expected: 0.." + HIGHEST_NUMBER + ")");
  }

  private @Nullable PostException refusePayload(SendWorkRequest request) {
    ByteBuffer inline = request.inlineData();
    if (inline != null) {
      return refuseInline(request, inline.remaining());
    }
    if ((request.flags() & SendWorkRequest.INLINE) != 0) {
      return PostErrors.invalid(request.id(), "INLINE without inline data");
    }
    return PostErrors.ofEntries(
        request.id(), request.buffers().size(), granted.maxSendScatterGather());
  }

  private @Nullable PostException refuseInline(SendWorkRequest request, int length) {
    if (!device.supports(Capability.INLINE_DATA)) {
      return new PostException(VerbsError.NOT_SUPPORTED, request.id(), "inline data: " + length);
    }
    return switch (request.opcode()) {
      case RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD, LOCAL_INV, BIND_MW ->
          PostErrors.invalid(request.id(), "inline data with " + request.opcode());
      case SEND, SEND_WITH_IMM, SEND_WITH_INV, RDMA_WRITE, RDMA_WRITE_WITH_IMM ->
          length <= granted.maxInlineData()
              ? null
              : PostErrors.invalid(
                  request.id(),
                  "inline data: " + length + " (expected: <= " + granted.maxInlineData() + ")");
    };
  }
}
