// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.provider.TransportOpcodes;
import java.nio.ByteBuffer;

/** Checks whether a queue pair allows a request, regardless of the queue pair's state. */
public final class SendLimits {
  private static final int HIGHEST_NUMBER = 0xff_ffff;

  private final EmulatedQueuePair pair;
  private final int maxScatterGather;
  private final int maxInlineData;
  private final boolean hasSendImmediates;
  private final boolean hasImmediates;
  private final boolean hasAtomics;

  /** Creates the limits of a queue pair with these options. */
  public SendLimits(EmulatedQueuePair pair, QueuePairOptions options) {
    this.pair = pair;
    maxScatterGather = options.maxSendScatterGather();
    maxInlineData = options.maxInlineData();
    DeviceAttributes device = pair.device().attributes();
    hasSendImmediates = device.supports(Capability.SEND_WITH_IMMEDIATE);
    hasImmediates = device.supports(Capability.IMMEDIATE_DATA);
    hasAtomics = device.supports(Capability.ATOMICS);
  }

  /**
   * Checks a request. Thread-safe.
   *
   * @throws PostException if the request breaks a limit, or needs a capability that is not
   *     supported
   */
  public void check(SendWorkRequest request) {
    if (!pair.isReliable()) {
      checkService(request);
    }
    checkCapability(request);
    if (request.opcode() == SendOpcode.BIND_MW) {
      EmulatedMemoryWindow.checkBind(request, MemoryWindowType.TYPE_2B, pair.device());
      return;
    }
    int entries = request.buffers().size();
    if (entries > maxScatterGather) {
      throw new PostException(
          VerbsError.INVALID,
          request.id(),
          "scatter/gather entries: " + entries + " (expected: <= " + maxScatterGather + ")");
    }
    ByteBuffer inline = request.inlineData();
    if (inline != null) {
      checkInline(request, inline);
    } else if ((request.flags() & SendWorkRequest.INLINE) != 0) {
      throw new PostException(VerbsError.INVALID, request.id(), "INLINE without inline data");
    }
  }

  /**
   * Checks a bind of a type 1 window. Thread-safe.
   *
   * @throws PostException as {@link #check}
   */
  public void checkBind(SendWorkRequest request) {
    if (!TransportOpcodes.has(pair.type(), SendOpcode.BIND_MW)) {
      throw new PostException(
          VerbsError.NOT_SUPPORTED, request.id(), "bind memory window on " + pair.type());
    }
    EmulatedMemoryWindow.checkBind(request, MemoryWindowType.TYPE_1, pair.device());
    if (request.next() != null) {
      throw new PostException(
          VerbsError.INVALID, request.id(), "bind: a request is linked to it (expected: none)");
    }
  }

  private void checkCapability(SendWorkRequest request) {
    boolean has =
        switch (request.opcode()) {
          case SEND_WITH_IMM -> hasSendImmediates;
          case RDMA_WRITE_WITH_IMM -> hasImmediates && pair.peerHasExtensions();
          case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> hasAtomics && pair.peerHasExtensions();
          default -> true;
        };
    if (!has) {
      throw new PostException(
          VerbsError.NOT_SUPPORTED,
          request.id(),
          "opcode: "
              + request.opcode()
              + (pair.peerHasExtensions() ? "" : ", which the peer does not have"));
    }
  }

  /** Checks the requirements of the transport service. */
  private void checkService(SendWorkRequest request) {
    if (!TransportOpcodes.has(pair.type(), request.opcode())) {
      throw new PostException(
          VerbsError.NOT_SUPPORTED,
          request.id(),
          "opcode: " + request.opcode() + " on " + pair.type());
    }
    if (pair.type() == QueuePairType.UD) {
      checkDestination(request);
    }
  }

  /** Checks the destination of a datagram. */
  private void checkDestination(SendWorkRequest request) {
    if (!(request.addressHandle() instanceof EmulatedAddressHandle handle)
        || handle.protectionDomain() != pair.protectionDomain()) {
      throw new PostException(
          VerbsError.INVALID, request.id(), "no address handle of the queue pair's domain");
    }
    if (handle.isClosed()) {
      throw new PostException(VerbsError.INVALID, request.id(), "the address handle is closed");
    }
    int number = request.remoteQueuePair();
    if (number < 0 || number > HIGHEST_NUMBER) {
      throw new PostException(
          VerbsError.INVALID,
          request.id(),
          "remote queue pair: " + number + " (expected: 0.." + HIGHEST_NUMBER + ")");
    }
  }

  private void checkInline(SendWorkRequest request, ByteBuffer inline) {
    switch (request.opcode()) {
      case RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD, LOCAL_INV ->
          throw new PostException(
              VerbsError.INVALID, request.id(), "inline data with " + request.opcode());
      default -> {}
    }
    if (inline.remaining() > maxInlineData) {
      throw new PostException(
          VerbsError.INVALID,
          request.id(),
          "inline data: " + inline.remaining() + " (expected: <= " + maxInlineData + ")");
    }
  }
}
