// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Access to a program's memory throws, at either end, in the first, a middle or the last part of
 * every operation. The operation fails, at the end that owns the memory with a protection error,
 * and other queue pairs on the same completion queues keep working. The regions throw as freed
 * memory does.
 */
@Tag("once")
class LostAccessTest {
  private static final Set<Access> ALL =
      EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);

  /** Four packets of the largest MTU. */
  private static final int LENGTH = 1 << 14;

  private static final int PIECES = 4;
  private static final int DEPTH = 16;

  /** The part of the memory that is lost. */
  private enum Part {
    FIRST,
    MIDDLE,
    LAST;

    /** Returns the index of this part among {@code count} pieces. */
    int of(int count) {
      return this == FIRST ? 0 : this == MIDDLE ? count / 2 : count - 1;
    }
  }

  private final WorkCompletion[] one = WorkCompletion.array(1);

  static List<Arguments> cells() {
    List<Arguments> cells = new ArrayList<>();
    for (Medium medium : Medium.values()) {
      if (medium == Medium.IWARP) {
        // Over iWARP the requester does not learn about an error at the peer.
        continue;
      }
      for (Operation operation : Operation.values()) {
        if (operation.invalidates() || operation == Operation.DATAGRAM) {
          continue;
        }
        for (int pieces : new int[] {1, PIECES}) {
          for (Part part : Part.values()) {
            cells.add(Arguments.of(medium, operation, pieces, "near", part));
            cells.add(Arguments.of(medium, operation, pieces, "far", part));
          }
        }
      }
    }
    return cells;
  }

  @ParameterizedTest(name = "{0}: {1} of {2} buffers, the {3} end loses the {4} part")
  @MethodSource("cells")
  void anOperationWhoseMemoryIsLostEndsAndOthersGoOn(
      Medium medium, Operation operation, int pieces, String loser, Part part) {
    int length = operation.isAtomic() ? Long.BYTES : LENGTH;
    try (EmulatedDevice device = medium.open();
        CompletionQueue sent = device.createCompletionQueue(DEPTH, null);
        CompletionQueue received = device.createCompletionQueue(DEPTH, null);
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion sound = domain.register(ByteBuffer.allocateDirect(256), ALL);
        LostMemory near = new LostMemory(domain, length, pieces, ALL);
        LostMemory far =
            new LostMemory(domain, length, operation.namesMemory() ? 1 : pieces, ALL)) {
      QueuePairOptions options =
          QueuePairOptions.reliable(sent, received, DEPTH, DEPTH).withScatterGather(PIECES, PIECES);
      SharedReceiveQueue shared =
          operation == Operation.SEND_TO_SHARED
              ? domain.createSharedReceiveQueue(DEPTH, PIECES)
              : null;
      try (QueuePair sender = domain.createQueuePair(options);
          QueuePair receiver =
              domain.createQueuePair(
                  shared == null ? options : options.withSharedReceiveQueue(shared));
          QueuePair innocentSender = domain.createQueuePair(options);
          QueuePair innocentReceiver = domain.createQueuePair(options)) {
        Connections.connect(device, sender, receiver);
        Connections.connect(device, innocentSender, innocentReceiver);
        postReceive(operation, receiver, shared, far);
        lose(loser.equals("near") ? near : far, part);

        SendWorkRequest request = new SendWorkRequest(PIECES).id(2);
        MemoryRegion named = far.regions.get(0);
        operation.request(request, named.address(), named.rkey()).signaled();
        near.addTo(request);
        sender.postSend(request);

        assertThat(next(sent).workRequestId()).isEqualTo(2);
        assertThat(one[0].status())
            .isEqualTo(
                loser.equals("near") ? CompletionStatus.LOC_PROT_ERR : CompletionStatus.REM_OP_ERR);
        // On packets the completion may be visible before the state changes.
        LostMemory.awaitState(sender, QueuePairState.ERR);
        assertThatOthersGoOn(innocentSender, innocentReceiver, sound, sent, received);
      }
      if (shared != null) {
        shared.close();
      }
    }
  }

  private static void postReceive(
      Operation operation,
      QueuePair receiver,
      @Nullable SharedReceiveQueue shared,
      LostMemory far) {
    if (operation.takesReceive()) {
      ReceiveWorkRequest receive = new ReceiveWorkRequest(PIECES).id(1);
      far.addTo(receive);
      if (shared == null) {
        receiver.postReceive(receive);
      } else {
        shared.postReceive(receive);
      }
    }
  }

  private void assertThatOthersGoOn(
      QueuePair sender,
      QueuePair receiver,
      MemoryRegion sound,
      CompletionQueue sent,
      CompletionQueue received) {
    receiver.postReceive(new ReceiveWorkRequest(1).id(3).buffer(sound.address(), 64, sound.lkey()));
    sender.postSend(
        new SendWorkRequest(1)
            .id(4)
            .send()
            .signaled()
            .buffer(sound.address() + 64, 64, sound.lkey()));
    assertThat(next(sent).workRequestId()).isEqualTo(4);
    assertThat(one[0].isSuccess()).isTrue();
    int lost = 0;
    while (next(received).queuePairNumber() != receiver.number()) {
      assertThat(one[0].isSuccess()).as("what was lost").isFalse();
      assertThat(++lost).as("completions of one receive").isEqualTo(1);
    }
    assertThat(one[0].workRequestId()).isEqualTo(3);
    assertThat(one[0].isSuccess()).isTrue();
  }

  private WorkCompletion next(CompletionQueue queue) {
    return LostMemory.next(queue, one);
  }

  /** Loses one whole region, or the end of the only region. */
  private static void lose(LostMemory memory, Part part) {
    int count = memory.regions.size();
    memory.lose(part.of(count), count == 1 ? part.of(memory.piece) : 0);
  }
}
