// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import java.io.IOException;
import java.util.Comparator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.retry.RetryPolicy;
import org.apache.ratis.rpc.CallId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppenderBase;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.MoreExecutors;
import org.apache.ratis.util.TimeDuration;
import org.apache.ratis.util.Timestamp;
import org.jspecify.annotations.Nullable;

/**
 * Sends a leader's log to a follower, with several appends in flight. Entries are sent before
 * earlier ones have their replies; the connection keeps their order.
 *
 * <p>One thread sends; replies arrive on the server's threads, one at a time. An append in flight
 * belongs to an epoch. An append with entries that fails, or one that is inconsistent, ends the
 * epoch; the next epoch begins where the follower is known to agree. Only the sending thread moves
 * the next index back. At most one heartbeat is in flight, so that a slow follower does not get
 * more of them than it can process.
 */
final class VerbenaLogAppender extends LogAppenderBase {
  private static final Comparator<Long> BY_CALL_ID = CallId.getComparator();

  /** The least time that the sending thread waits for a reply, in milliseconds. */
  private static final long SHORT_MILLIS = 10;

  /** An append in flight. */
  private record Sent(
      int epoch, boolean isHeartbeat, long firstIndex, long previousIndex, Timestamp time) {}

  /** A failed append, after which the appender decides where to continue. */
  private record Setback(Sent sent, @Nullable AppendEntriesReplyProto inconsistent) {}

  private final VerbenaServerRpc rpc;
  private final SnapshotSender snapshots;
  private final Executor replies;
  private final int mostOutstanding;
  private final RetryPolicy pauses;

  /** Replies and failures that move the next index back. */
  private final Queue<Setback> setbacks = new ConcurrentLinkedQueue<>();

  private final AtomicInteger outstanding = new AtomicInteger();
  private final AtomicBoolean heartbeat = new AtomicBoolean();
  private final AtomicBoolean notified = new AtomicBoolean();
  private volatile @Nullable Thread sender;
  private volatile int epoch;

  /**
   * Whether the follower has replied to an append of this epoch; until then at most one is in
   * flight.
   */
  private volatile boolean agreed;

  private final AtomicLong callIds = new AtomicLong();

  // Only in the sending thread.
  private int failures;

  VerbenaLogAppender(RaftServer.Division division, LeaderState leader, FollowerInfo follower) {
    super(division, leader, follower);
    rpc = (VerbenaServerRpc) getServerRpc();
    RaftProperties properties = division.getRaftServer().getProperties();
    snapshots = new SnapshotSender(this, rpc, properties);
    replies = MoreExecutors.newSequentialExecutor(rpc.threads());
    mostOutstanding = VerbenaConfigKeys.Server.leaderOutstandingAppendsMax(properties);
    pauses =
        RetryPolicy.parse(
            RaftServerConfigKeys.Log.Appender.retryPolicy(properties),
            RaftServerConfigKeys.Log.Appender.RETRY_POLICY_KEY);
  }

  @Override
  public long getCallId() {
    return callIds.get();
  }

  @Override
  public Comparator<Long> getCallIdComparator() {
    return BY_CALL_ID;
  }

  @Override
  public boolean hasPendingDataRequests() {
    return outstanding.get() > 0;
  }

  // ---- the sending thread

  @Override
  public void run() throws InterruptedException {
    sender = Thread.currentThread();
    try {
      send();
    } catch (IOException | RuntimeException e) {
      giveUp(e);
    }
  }

  /**
   * Leaves the follower to another appender, for instance because entries were purged while an
   * append with them was made: such an append cannot be made again, as Ratis keeps the entries that
   * it had read. Ratis 3.2 replaces only an appender that is running, and not one whose {@link
   * #run} has failed: the follower would hear no more of the leader.
   */
  private void giveUp(Exception failure) throws InterruptedException {
    if (!isRunning()) {
      LOG.info("{}: failed while it stopped", this, failure);
      return;
    }
    LOG.warn("{}: failed; another appender takes over", this, failure);
    do {
      // The other one may fail at once, too.
      getServer().properties().rpcSleepTime().sleep();
      // It may begin with a snapshot, which must not overtake an append: see send(). Each append
      // ends, at its time limit at the latest.
    } while (isRunning() && outstanding.get() > 0 && setbacks.isEmpty());
    getLeaderState().restart(this);
  }

  private void send() throws InterruptedException, IOException {
    while (isRunning()) {
      notified.set(false);
      takeSetbacks();
      boolean sent = false;
      if (shouldSendAppendEntries()) {
        boolean behind = snapshots.isNeeded();
        // Not with appends in flight: Ratis closes a follower that writes an entry after a snapshot
        // that includes the entry.
        boolean installing = behind && outstanding.get() == 0;
        if (installing) {
          snapshots.installIfNeeded();
        }
        sent = append(behind);
        if (installing && isRunning()) {
          await(getServer().properties().rpcSleepTime().toLong(TimeUnit.MILLISECONDS));
        }
      }
      getLeaderState().checkHealth(getFollower());
      if (!sent) {
        await(Math.max(getHeartbeatWaitTimeMs(), SHORT_MILLIS));
      }
    }
  }

  /**
   * Wakes the sending thread, also if it is just about to wait: unlike a signal, this is not lost.
   */
  @Override
  public void notifyLogAppender() {
    if (!notified.getAndSet(true)) {
      LockSupport.unpark(sender);
    }
  }

  private void await(long millis) throws InterruptedException {
    long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
    long deadline = System.nanoTime() + nanos;
    while (nanos > 0 && !notified.get()) {
      LockSupport.parkNanos(this, nanos);
      if (Thread.interrupted()) {
        throw new InterruptedException(this + ": stopped");
      }
      nanos = deadline - System.nanoTime();
    }
  }

  /** Sends the next entries or a heartbeat, and returns whether it did. */
  @SuppressWarnings("FutureReturnValueIgnored")
  private boolean append(boolean heartbeatOnly) throws IOException {
    int flying = outstanding.get();
    boolean isFull = heartbeatOnly || flying >= mostOutstanding || (flying > 0 && !agreed);
    boolean isDue = getHeartbeatWaitTimeMs() <= 0;
    if (isDue ? heartbeat.get() : isFull) {
      return false;
    }
    AppendEntriesRequestProto request = newAppendEntriesRequest(callIds.get(), isFull);
    if (request == null) {
      return false;
    }
    callIds.incrementAndGet();
    int count = request.getEntriesCount();
    Sent sent =
        new Sent(
            epoch,
            count == 0,
            count == 0 ? RaftLog.INVALID_LOG_INDEX : request.getEntries(0).getIndex(),
            request.hasPreviousLog()
                ? request.getPreviousLog().getIndex()
                : RaftLog.INVALID_LOG_INDEX,
            Timestamp.currentTime());
    if (count == 0) {
      heartbeat.set(true);
    } else {
      outstanding.incrementAndGet();
      getFollower().increaseNextIndex(request.getEntries(count - 1).getIndex() + 1);
    }
    resetHeartbeatTrigger();
    getFollower().updateLastRpcSendTime(count == 0);
    try {
      rpc.appendEntriesAsync(request, replies)
          .whenComplete((reply, failure) -> ended(sent, reply, failure));
    } catch (IOException e) {
      // If the follower's host name is not known for a moment, for example.
      ended(sent, null, e);
    }
    return true;
  }

  /** Ends the epoch if one of its appends has failed. */
  private void takeSetbacks() throws InterruptedException {
    boolean pause = false;
    for (Setback setback = setbacks.poll(); setback != null; setback = setbacks.poll()) {
      AppendEntriesReplyProto reply = setback.inconsistent;
      Sent sent = setback.sent;
      if (sent.epoch != epoch) {
        continue;
      }
      if (reply != null) {
        beginEpoch();
        getFollower()
            .setNextIndex(getNextIndexForInconsistency(sent.firstIndex, reply.getNextIndex()));
        continue;
      }
      // A follower that has replied since is up, and may miss many entries: no pause for it.
      pause |= getFollower().getLastRpcResponseTime().compareTo(sent.time) < 0;
      if (!sent.isHeartbeat) {
        beginEpoch();
        long next = Math.max(sent.previousIndex, getFollower().getMatchIndex()) + 1;
        getFollower().computeNextIndex(getNextIndexForError(next));
      }
    }
    if (pause) {
      // Even if notified meanwhile: a follower that is down does not get an append for each new
      // entry.
      nextPause().sleep();
    } else if (agreed) {
      failures = 0;
    }
  }

  /**
   * Returns the policy's next pause; when it gives up, its last one, because a leader never gives
   * up.
   */
  TimeDuration nextPause() {
    int count = failures + 1;
    RetryPolicy.Action action = pauses.handleAttemptFailure(() -> count);
    if (action.shouldRetry()) {
      failures = count;
      return action.getSleepTime();
    }
    TimeDuration last = pauses.handleAttemptFailure(() -> failures).getSleepTime();
    return last.isPositive() ? last : TimeDuration.valueOf(SHORT_MILLIS, TimeUnit.MILLISECONDS);
  }

  private synchronized void beginEpoch() {
    epoch++;
    agreed = false;
    outstanding.set(0);
  }

  /** Notes that an append has its reply, if it is of this epoch. */
  private synchronized void agreed(Sent sent) {
    if (sent.epoch == epoch) {
      agreed = true;
      if (!sent.isHeartbeat) {
        outstanding.decrementAndGet();
      }
    }
  }

  // ---- the server's threads, one at a time

  private void ended(
      Sent sent, @Nullable AppendEntriesReplyProto reply, @Nullable Throwable failure) {
    if (sent.isHeartbeat) {
      heartbeat.set(false);
    }
    if (reply == null) {
      LOG.debug("{}: append failed: {}", this, String.valueOf(failure));
      setBack(new Setback(sent, null));
      return;
    }
    FollowerInfo follower = getFollower();
    follower.updateLastRespondedAppendEntriesSendTime(sent.time);
    follower.updateLastRpcResponseTime();
    AppendResult result = reply.getResult();
    switch (result) {
      case SUCCESS -> {
        agreed(sent);
        getLeaderState().onFollowerCommitIndex(follower, reply.getFollowerCommit());
        if (follower.updateMatchIndex(reply.getMatchIndex())) {
          follower.updateNextIndex(reply.getMatchIndex() + 1);
          getLeaderState().onFollowerSuccessAppendEntries(follower);
        }
      }
      case NOT_LEADER -> {
        if (onFollowerTerm(reply.getTerm())) {
          return;
        }
        agreed(sent);
      }
      case INCONSISTENCY -> setBack(new Setback(sent, reply));
      default -> {
        LOG.error("{}: result of an append: {} (expected: a known one)", this, result);
        setBack(new Setback(sent, null));
      }
    }
    getLeaderState().onAppendEntriesReply(this, reply);
    notifyLogAppender();
  }

  private void setBack(Setback setback) {
    setbacks.add(setback);
    notifyLogAppender();
  }
}
