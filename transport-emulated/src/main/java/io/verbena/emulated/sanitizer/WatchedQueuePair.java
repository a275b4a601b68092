// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What the sanitizer knows of one queue pair: its outstanding sends, its receives, and its peer if
 * the peer is watched, too.
 */
final class WatchedQueuePair {
  private final WatchedDomain domain;
  private final QueuePair queuePair;
  private final int number;
  private final boolean signalAll;
  private final WatchedCompletionQueue sendCompletions;
  private final WatchedCompletionQueue receiveCompletions;
  private final WatchedReceives receives;
  private final boolean sharedReceives;
  private final ReentrantLock posting = new ReentrantLock();

  // Guarded by the monitor of outstanding: sends in the order of their posts.
  private final ArrayDeque<Posted> outstanding = new ArrayDeque<>();
  private int signaled;

  /** Messages posted since the last reset that take a receive of the peer. */
  private final AtomicLong messages = new AtomicLong();

  private volatile @Nullable WatchedQueuePair peer;
  private volatile boolean peerSought;
  private volatile boolean closed;
  private boolean abandoning;

  WatchedQueuePair(
      WatchedDomain domain,
      QueuePair queuePair,
      boolean signalAll,
      WatchedCompletionQueue sendCompletions,
      WatchedCompletionQueue receiveCompletions,
      @Nullable WatchedReceives sharedReceives) {
    this.domain = domain;
    this.queuePair = queuePair;
    this.signalAll = signalAll;
    this.sendCompletions = sendCompletions;
    this.receiveCompletions = receiveCompletions;
    this.sharedReceives = sharedReceives != null;
    number = queuePair.number();
    receives =
        sharedReceives != null ? sharedReceives : new WatchedReceives(domain, receiveCompletions);
    if (sharedReceives != null) {
      sharedReceives.completeIn(receiveCompletions);
    }
    domain.add(this);
    sendCompletions.attach();
    receiveCompletions.attach();
    Peers.add(this);
  }

  int number() {
    return number;
  }

  WatchedDevice device() {
    return domain.device;
  }

  WatchedReceives receives() {
    return receives;
  }

  /** Returns whether its requests may still access memory. */
  boolean mayRun() {
    if (closed) {
      return false;
    }
    QueuePairState state = queuePair.state();
    return state != QueuePairState.ERR && state != QueuePairState.RESET;
  }

  /** Returns the peer, or null if there is no peer yet or the peer is not watched. */
  @Nullable WatchedQueuePair peer() {
    if (!peerSought && !closed) {
      QueuePairState state = queuePair.state();
      if (state == QueuePairState.RTR || state == QueuePairState.RTS) {
        seekPeer();
      }
    }
    return peer;
  }

  private void seekPeer() {
    QueuePairAttributes attributes = queuePair.query();
    AddressVector vector = attributes.addressVector();
    WatchedQueuePair found = null;
    if (vector != null && queuePair.type() != QueuePairType.UD) {
      found = Peers.find(vector.destination(), attributes.destinationQueuePair());
    }
    if (found == null) {
      domain.noteUnwatchedPeer();
    }
    peer = found;
    peerSought = true;
  }

  void postSend(SendWorkRequest first, CallSite place, Report report) {
    post(first, queuePair::postSend, place, report);
  }

  /** Posts a bind of a window of type 1. */
  void bindMemoryWindow(SendWorkRequest bind, CallSite place, Report report) {
    post(bind, queuePair::bindMemoryWindow, place, report);
  }

  private void post(
      SendWorkRequest first, Consumer<SendWorkRequest> verb, CallSite place, Report report) {
    List<Posted> chain = new ArrayList<>(1);
    posting.lock();
    try {
      boolean running = !closed && queuePair.state() == QueuePairState.RTS;
      SendWorkRequest head = null;
      SendWorkRequest tail = null;
      for (SendWorkRequest next = first; next != null; next = next.next()) {
        boolean completes = signalAll || (next.flags() & SendWorkRequest.SIGNALED) != 0;
        Posted request =
            Posted.send(
                next.id(),
                place,
                next.opcode(),
                this,
                completes,
                next.remoteKey(),
                next.buffers(),
                domain);
        request.fenced = (next.flags() & SendWorkRequest.FENCE) != 0;
        noteBind(next, request);
        add(request);
        chain.add(request);
        Pieces.post(request, domain.device, report);
        if (running) {
          checkPeer(next, request, report);
        }
        SendWorkRequest copy = Unwrapped.request(next, request);
        if (head == null) {
          head = copy;
        } else if (tail != null) {
          tail.next(copy);
        }
        tail = copy;
      }
      if (head != null) {
        verb.accept(head);
      }
      checkSignaled(place, report);
      sendCompletions.check(place, report);
    } catch (PostException e) {
      int done = RefusedPosts.posted(e, chain);
      drop(chain.subList(done, chain.size()));
      if (e.error() == VerbsError.NO_MEMORY) {
        report.add(
            Finding.at(
                Finding.Kind.QUEUE_OVERFILLED,
                place,
                "send queue of " + number + ": " + chain.get(done) + ": " + e.getMessage()));
        checkSignaled(place, report);
      }
      throw RefusedPosts.withProgramId(e, chain.get(done));
    } catch (RuntimeException e) {
      drop(chain);
      throw e;
    } finally {
      posting.unlock();
    }
  }

  /** Posts receives; with a shared receive queue the device refuses them. */
  void postReceive(ReceiveWorkRequest first, CallSite place, Report report) {
    if (sharedReceives || closed) {
      queuePair.postReceive(first);
    } else {
      receives.post(first, this, queuePair::postReceive, place, report);
    }
  }

  private void noteBind(SendWorkRequest request, Posted posted) {
    MemoryWindow window = request.window();
    MemoryRegion region = request.windowRegion();
    if (request.opcode() == SendOpcode.BIND_MW && window != null && region != null) {
      posted.window = window;
      posted.replacedKey = window.rkey();
      WatchedRegion watched = domain.device.byLocalKey(region.lkey());
      if (watched != null) {
        watched.use(Access.MW_BIND);
      }
    }
  }

  private void add(Posted request) {
    domain.device.add(request);
    synchronized (outstanding) {
      outstanding.add(request);
      if (request.signaled) {
        signaled++;
      }
    }
    if (request.signaled) {
      sendCompletions.await(request);
    }
  }

  private void drop(List<Posted> requests) {
    for (Posted request : requests) {
      synchronized (outstanding) {
        if (outstanding.remove(request) && request.signaled) {
          signaled--;
        }
        request.outstanding = false;
      }
      if (request.counted) {
        messages.decrementAndGet();
      }
      WatchedCompletionQueue.arrived(request);
      domain.device.forget(request);
      Pieces.finish(request, 0, null);
    }
  }

  private void checkPeer(SendWorkRequest request, Posted posted, Report report) {
    WatchedQueuePair other = peer();
    if (other == null) {
      return;
    }
    SendOpcode opcode = request.opcode();
    boolean remote =
        switch (opcode) {
          case RDMA_WRITE, RDMA_WRITE_WITH_IMM, RDMA_READ -> true;
          case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD, SEND_WITH_INV -> true;
          case SEND, SEND_WITH_IMM, LOCAL_INV, BIND_MW -> false;
        };
    if (remote) {
      Pieces.checkKey(posted, request.remoteKey(), "rkey", other.device(), report);
      useRemote(opcode, other.device().byRemoteKey(request.remoteKey()));
    }
    if (posted.takesReceive() && queuePair.type() == QueuePairType.RC) {
      checkReceive(posted, other, report);
    }
  }

  private static void useRemote(SendOpcode opcode, @Nullable WatchedRegion region) {
    if (region == null) {
      return;
    }
    switch (opcode) {
      case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> region.use(Access.REMOTE_WRITE);
      case RDMA_READ -> region.use(Access.REMOTE_READ);
      case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> region.use(Access.REMOTE_ATOMIC);
      case SEND, SEND_WITH_IMM, SEND_WITH_INV, LOCAL_INV, BIND_MW -> {}
    }
  }

  private void checkReceive(Posted request, WatchedQueuePair other, Report report) {
    if (other.peer() != this) {
      return;
    }
    boolean missing =
        other.sharedReceives ? other.receives.isEmpty() : other.receives.posted() <= messages.get();
    messages.incrementAndGet();
    request.counted = true;
    if (missing) {
      report.add(
          Finding.at(
              Finding.Kind.SEND_WITHOUT_RECEIVE,
              request.place,
              request
                  + " on queue pair "
                  + number
                  + ": the peer has posted no receive for it (expected: a credit for each"
                  + " message)"));
    }
  }

  private void checkSignaled(CallSite place, Report report) {
    int most = queuePair.capabilities().maxSend();
    synchronized (outstanding) {
      if (outstanding.size() < most || signaled > 0) {
        return;
      }
    }
    report.add(
        Finding.at(
            Finding.Kind.SEND_QUEUE_UNSIGNALED,
            place,
            "queue pair " + number + ": all " + most + " sends outstanding are unsignaled"));
  }

  /** Ends a send whose completion was polled, and all sends before it. */
  void completed(Posted last, boolean success, Report report) {
    synchronized (outstanding) {
      if (!last.outstanding) {
        domain.device.forget(last);
        return;
      }
      Posted request;
      do {
        request = outstanding.remove();
        request.outstanding = false;
        if (request.signaled) {
          signaled--;
        }
        WatchedCompletionQueue.arrived(request);
        domain.device.forget(request);
        end(request, success || request != last, report);
      } while (request != last);
    }
  }

  private void end(Posted request, boolean success, Report report) {
    if (success && request.isOutbound()) {
      Pieces.checkUnchanged(request, report);
    }
    if (success && request.opcode == SendOpcode.LOCAL_INV) {
      domain.device.deadKeys().died(request.key, request.place);
    } else if (success && request.window != null) {
      int now = request.window.rkey();
      if (now != request.replacedKey) {
        domain.device.deadKeys().died(request.replacedKey, request.place);
      }
      if (request.showsNothing()) {
        domain.device.deadKeys().died(now, request.place);
      } else {
        domain.device.deadKeys().reborn(now);
      }
    }
    Pieces.finish(request, success && request.isInbound() ? request.length() : 0, report);
  }

  /**
   * Notes that a message of this queue pair waited for a receive until its retries were used up.
   */
  void gaveUp(Report report) {
    WatchedQueuePair other = peer;
    if (other != null) {
      other.checkReposted(report);
    }
  }

  private void checkReposted(Report report) {
    CallSite last = receives.lastPolled();
    if (last != null && receives.isEmpty()) {
      report.add(
          Finding.at(
              Finding.Kind.RECEIVE_NEVER_REPOSTED,
              last,
              "queue pair "
                  + number
                  + ": a message of the peer found no receive, since all were used up and"
                  + " none was posted again; the last one was posted"));
    }
  }

  /**
   * Reports completions that a close discards, and receives that were never posted again; called
   * before the close.
   */
  void checkClose(CallSite place, Report report) {
    QueuePairState state = queuePair.state();
    if (closed || (state != QueuePairState.RTS && state != QueuePairState.SQD)) {
      return;
    }
    abandoning = true;
    synchronized (outstanding) {
      for (Posted request : outstanding) {
        if (request.signaled) {
          report.add(
              Finding.at(
                  Finding.Kind.COMPLETION_NEVER_POLLED,
                  request.place,
                  request
                      + ": queue pair "
                      + number
                      + " is closed in "
                      + state
                      + " before its completion was polled; sends outstanding: "
                      + outstanding.size(),
                  "the queue pair is closed",
                  place));
          break;
        }
      }
    }
    WatchedQueuePair other = peer();
    if (other != null
        && other.mayRun()
        && !sharedReceives
        && other.messages.get() > receives.posted()) {
      checkReposted(report);
    }
  }

  /** Drops all outstanding requests. */
  void reset() {
    List<Posted> sends;
    synchronized (outstanding) {
      sends = new ArrayList<>(outstanding);
      outstanding.clear();
      signaled = 0;
      messages.set(0);
      for (Posted request : sends) {
        request.outstanding = false;
        WatchedCompletionQueue.arrived(request);
        Pieces.release(request);
      }
    }
    List<Posted> rest = sharedReceives ? List.of() : receives.clear();
    if (abandoning) {
      sends.forEach(request -> request.abandoned = true);
      rest.forEach(request -> request.abandoned = true);
    }
    sendCompletions.orphan(sends);
    receiveCompletions.orphan(rest);
    peer = null;
    peerSought = false;
  }

  void close() {
    reset();
    closed = true;
    domain.remove(this);
    sendCompletions.detach();
    receiveCompletions.detach();
    Peers.remove(this);
  }
}
