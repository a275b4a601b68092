// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.driven;

import io.verbena.emulated.engine.AccessResult;
import io.verbena.emulated.engine.AtomicResult;
import io.verbena.emulated.engine.EngineHost;
import io.verbena.emulated.hca.CompletionEntry;
import io.verbena.emulated.hca.CompletionRing;
import io.verbena.emulated.hca.EmulatedCompletionQueue;
import io.verbena.emulated.hca.EmulatedMemoryWindow;
import io.verbena.emulated.hca.KeyEntry;
import io.verbena.emulated.hca.ReceiveRing;
import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.mapped.ReadGrant;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.ScatterGatherList;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The emulated HCA as the engine of a queue pair sees it. */
public final class HcaEngineHost implements EngineHost {
  private static final int LOCAL_WRITE = Access.LOCAL_WRITE.bit();
  private static final int REMOTE_WRITE = Access.REMOTE_WRITE.bit();
  private static final int REMOTE_READ = Access.REMOTE_READ.bit();
  private static final int REMOTE_ATOMIC = Access.REMOTE_ATOMIC.bit();

  private final DrivenQueuePair pair;

  /** Used by the thread that calls the engine; there is one at a time. */
  private final CompletionEntry completion = new CompletionEntry();

  /** One past the position of the last receive that was taken. */
  private long receiveTaken;

  HcaEngineHost(DrivenQueuePair pair) {
    this.pair = pair;
  }

  @Override
  public AccessResult checkLocal(int lkey, long address, int length, int access) {
    return outcome(
        pair.open(
            lkey, address, length, access == LOCAL_WRITE ? LOCAL_WRITE : KeyEntry.LOCAL_READ));
  }

  @Override
  public AccessResult checkRemote(int rkey, long address, long length, int access) {
    return length > Integer.MAX_VALUE
        ? AccessResult.REFUSED
        : outcome(pair.open(rkey, address, (int) length, access));
  }

  private static AccessResult outcome(@Nullable KeyEntry key) {
    return key == null ? AccessResult.REFUSED : AccessResult.GRANTED;
  }

  @Override
  public AccessResult readLocal(int lkey, long address, ByteBuffer to, int offset, int length) {
    return read(pair.open(lkey, address, length, KeyEntry.LOCAL_READ), address, to, offset, length);
  }

  @Override
  public AccessResult readRemote(int rkey, long address, ByteBuffer to, int offset, int length) {
    return read(pair.open(rkey, address, length, REMOTE_READ), address, to, offset, length);
  }

  @Override
  public boolean referLocal(int lkey, long address, int length, PayloadReference to) {
    return refer(lkey, address, length, KeyEntry.LOCAL_READ, to);
  }

  @Override
  public boolean referRemote(int rkey, long address, int length, PayloadReference to) {
    return refer(rkey, address, length, REMOTE_READ, to);
  }

  @Override
  public boolean grantRemote(int rkey, long address, ReadGrant to) {
    KeyEntry key = pair.open(rkey, address, 1, REMOTE_READ);
    return key != null && key.grant(rkey, to);
  }

  private boolean refer(int key, long address, int length, int right, PayloadReference to) {
    KeyEntry found = pair.open(key, address, length, right);
    return found != null && found.refer(address, key, to);
  }

  private static AccessResult read(
      @Nullable KeyEntry key, long address, ByteBuffer to, int offset, int length) {
    if (key == null) {
      return AccessResult.REFUSED;
    }
    try {
      key.read(address, to, offset, length);
      return AccessResult.GRANTED;
    } catch (RuntimeException | Error e) {
      return AccessResult.FAILED;
    }
  }

  @Override
  public AccessResult writeLocal(int lkey, long address, ByteBuffer from, int offset, int length) {
    return write(pair.open(lkey, address, length, LOCAL_WRITE), address, from, offset, length);
  }

  @Override
  public AccessResult writeReceive(
      int lkey, long address, ByteBuffer from, int offset, int length) {
    return write(pair.openReceive(lkey, address, length), address, from, offset, length);
  }

  @Override
  public AccessResult writeRemote(int rkey, long address, ByteBuffer from, int offset, int length) {
    return write(pair.open(rkey, address, length, REMOTE_WRITE), address, from, offset, length);
  }

  private static AccessResult write(
      @Nullable KeyEntry key, long address, ByteBuffer from, int offset, int length) {
    if (key == null) {
      return AccessResult.REFUSED;
    }
    try {
      key.write(address, from, offset, length);
      return AccessResult.GRANTED;
    } catch (RuntimeException | Error e) {
      return AccessResult.FAILED;
    }
  }

  @Override
  public AccessResult compareAndSwap(
      int rkey, long address, long expected, long swap, AtomicResult result) {
    KeyEntry key = pair.open(rkey, address, Long.BYTES, REMOTE_ATOMIC);
    if (key == null) {
      return AccessResult.REFUSED;
    }
    try {
      result.original(key.compareAndSwap(address, expected, swap));
      return AccessResult.GRANTED;
    } catch (RuntimeException | Error e) {
      return AccessResult.FAILED;
    }
  }

  @Override
  public AccessResult fetchAndAdd(int rkey, long address, long addend, AtomicResult result) {
    KeyEntry key = pair.open(rkey, address, Long.BYTES, REMOTE_ATOMIC);
    if (key == null) {
      return AccessResult.REFUSED;
    }
    try {
      result.original(key.fetchAndAdd(address, addend));
      return AccessResult.GRANTED;
    } catch (RuntimeException | Error e) {
      return AccessResult.FAILED;
    }
  }

  @Override
  public boolean invalidateLocally(int key) {
    return pair.invalidateLocally(key);
  }

  @Override
  public boolean invalidateRemotely(int rkey) {
    return pair.invalidateRemotely(rkey);
  }

  @Override
  public boolean bind(SendWorkRequest request) {
    return EmulatedMemoryWindow.bind(request, pair);
  }

  @Override
  public boolean takeReceive(ReceiveWorkRequest into) {
    ReceiveRing receives = pair.receives();
    if (!pair.hasReceive()) {
      return false;
    }
    ScatterGatherList buffers = into.id(receives.id()).buffers();
    buffers.clear();
    for (int i = 0, count = receives.count(); i < count; i++) {
      buffers.add(receives.address(i), receives.length(i), receives.lkey(i));
    }
    receiveTaken = receives.take();
    return true;
  }

  @Override
  public void receiveDone(
      long id,
      CompletionOpcode opcode,
      int byteLength,
      int immediate,
      int sourceQueuePair,
      int flags,
      boolean solicited) {
    EmulatedCompletionQueue queue = pair.receiveCompletions();
    long entry = queue.claim();
    if (entry == CompletionRing.OVERRUN) {
      overrun(queue);
      return;
    }
    queue.publish(
        entry,
        completion
            .ends(CompletionStatus.SUCCESS, opcode, byteLength)
            .carries(flags, immediate)
            .cameFrom(sourceQueuePair)
            .solicits(solicited)
            .of(pair.number(), pair.receiveAttachment())
            .completes(id, receiveTaken));
  }

  @Override
  public void receiveFailed(long id, CompletionStatus status) {
    EmulatedCompletionQueue queue = pair.receiveCompletions();
    long entry = queue.claim();
    if (entry == CompletionRing.OVERRUN) {
      overrun(queue);
      return;
    }
    queue.publish(
        entry,
        completion
            .ends(status, CompletionOpcode.RECV, 0)
            .of(pair.number(), pair.receiveAttachment())
            .completes(id, receiveTaken));
  }

  @Override
  public void sendDone(
      long position, SendWorkRequest request, CompletionOpcode opcode, int byteLength) {
    complete(position, request, CompletionStatus.SUCCESS, opcode, byteLength);
  }

  @Override
  public void sendFailed(long position, SendWorkRequest request, CompletionStatus status) {
    complete(position, request, status, CompletionOpcode.SEND, 0);
  }

  private void complete(
      long position,
      SendWorkRequest request,
      CompletionStatus status,
      CompletionOpcode opcode,
      int byteLength) {
    EmulatedCompletionQueue queue = pair.sendCompletions();
    long entry = queue.claim();
    if (entry == CompletionRing.OVERRUN) {
      overrun(queue);
      return;
    }
    queue.publish(
        entry,
        completion
            .ends(status, opcode, byteLength)
            .of(pair.number(), pair.sendAttachment())
            .completes(request.id(), position + 1));
  }

  private void overrun(EmulatedCompletionQueue queue) {
    pair.turns().afterwards(queue::overrun);
  }

  @Override
  public void count(Counter counter) {
    pair.count(counter);
  }

  @Override
  public void raise(AsyncEvent.Type event) {
    if (event != AsyncEvent.Type.QP_LAST_WQE_REACHED || pair.reportsLastReceive()) {
      pair.device().raise(event, pair);
    }
    if (event == AsyncEvent.Type.COMM_EST) {
      pair.communicationEstablished();
    }
  }

  @Override
  public void moved(QueuePairState to) {
    if (to == QueuePairState.ERR) {
      pair.moveToError();
    } else {
      pair.moveToSendError();
    }
  }

  @Override
  public void ready() {
    pair.ring();
  }
}
