// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.direct.DirectFabric;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.EnumSet;

/**
 * Two UD queue pairs on a fabric of their own; the far one has a receive. The user of the pair
 * closes it.
 */
final class DatagramPair {
  /** The value that the near end sends. */
  static final long SENT = 0x11;

  /** Bytes of the global route header, ahead of each datagram. */
  private static final int HEADER = 40;

  private static final int QUEUE_KEY = 0x1234;
  private static final int DEPTH = 2;

  final EmulatedDevice device =
      EmulatedDevice.open(new DirectFabric(), DeviceLimits.FULL, new LocalConnectionManagers());
  final ProtectionDomain domain = device.allocateProtectionDomain();
  final CompletionQueue sends = device.createCompletionQueue(DEPTH, null);
  final CompletionQueue receives = device.createCompletionQueue(DEPTH, null);
  final ByteBuffer nearMemory = ConnectedPair.lineOf(Long.BYTES).putLong(0, SENT);
  final ByteBuffer farMemory = ConnectedPair.lineOf(HEADER + Long.BYTES).putLong(HEADER, 0);
  final MemoryRegion nearRegion = domain.register(nearMemory, EnumSet.of(Access.LOCAL_WRITE));
  final MemoryRegion farRegion = domain.register(farMemory, EnumSet.of(Access.LOCAL_WRITE));
  final AddressHandle way = domain.createAddressHandle(AddressVector.to(device.gid()));
  final QueuePair near = queuePair();
  final QueuePair far = queuePair();
  private final WorkCompletion[] one = WorkCompletion.array(1);

  DatagramPair() {
    far.postReceive(
        new ReceiveWorkRequest()
            .buffer(farRegion.address(), farMemory.capacity(), farRegion.lkey()));
  }

  private QueuePair queuePair() {
    QueuePair pair =
        domain.createQueuePair(
            QueuePairOptions.reliable(sends, receives, DEPTH, DEPTH)
                .withType(QueuePairType.UD)
                .withSignalAll());
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .queueKey(QUEUE_KEY));
    pair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
    pair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1));
    return pair;
  }

  /** Sends a datagram at the near end. Returns whether the queue pair accepted it. */
  boolean send() {
    try {
      near.postSend(
          new SendWorkRequest()
              .send()
              .to(way, far.number(), QUEUE_KEY)
              .buffer(nearRegion.address(), Long.BYTES, nearRegion.lkey()));
      return true;
    } catch (PostException e) {
      return false;
    }
  }

  /** Returns the result of the send, as {@link ConnectedPair#sent}. */
  int sent() {
    if (sends.poll(one) == 0) {
      return ConnectedPair.NONE;
    }
    CompletionStatus status = one[0].status();
    return switch (status) {
      case SUCCESS -> ConnectedPair.GOOD;
      case LOC_PROT_ERR -> ConnectedPair.REFUSED;
      default -> ConnectedPair.OTHER;
    };
  }

  /** Polls the far end's completions and returns their number. */
  int received() {
    int count = 0;
    while (receives.poll(one) > 0) {
      count++;
    }
    return count;
  }

  /** Overwrites the far end's memory, as its next user would after the deregistration. */
  void overwrite() {
    for (int at = 0; at < farMemory.capacity(); at += Long.BYTES) {
      farMemory.putLong(at, ConnectedPair.POISON);
    }
  }

  /** Returns 1 if the memory still has the bytes of {@link #overwrite}, else 0. */
  int isOverwritten() {
    for (int at = 0; at < farMemory.capacity(); at += Long.BYTES) {
      if (farMemory.getLong(at) != ConnectedPair.POISON) {
        return 0;
      }
    }
    return 1;
  }

  /** Returns the payload that the far end has received. */
  long payload() {
    return farMemory.getLong(HEADER);
  }

  /** Closes all open objects. */
  void close() {
    near.close();
    far.close();
    way.close();
    nearRegion.close();
    farRegion.close();
    sends.close();
    receives.close();
    domain.close();
    device.close();
  }
}
