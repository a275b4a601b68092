// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Installs a snapshot on a follower whose next entries are not in the leader's log any more. As
 * Ratis is configured, it sends the snapshot's chunks, a few in flight, or tells the follower to
 * fetch a snapshot itself. Only in the thread of its appender, which waits meanwhile.
 */
final class SnapshotSender {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotSender.class);

  private final LogAppender appender;
  private final VerbenaServerRpc rpc;
  private final boolean sendsChunks;
  private final int mostOutstanding;
  private final TimeDuration timeout;

  SnapshotSender(LogAppender appender, VerbenaServerRpc rpc, RaftProperties properties) {
    this.appender = appender;
    this.rpc = rpc;
    sendsChunks = RaftServerConfigKeys.Log.Appender.installSnapshotEnabled(properties);
    mostOutstanding = VerbenaConfigKeys.Server.snapshotChunksMax(properties);
    timeout = RaftServerConfigKeys.Rpc.requestTimeout(properties).multiply(mostOutstanding);
  }

  /**
   * Returns whether the follower needs a snapshot, because entries that it misses are not in the
   * log.
   */
  boolean isNeeded() {
    return sendsChunks ? snapshotToSend() != null : firstAvailable() != null;
  }

  private @Nullable SnapshotInfo snapshotToSend() {
    SnapshotInfo snapshot = appender.shouldInstallSnapshot();
    return snapshot != null || !lacksPrevious()
        ? snapshot
        : appender.getServer().getStateMachine().getLatestSnapshot();
  }

  /**
   * Returns whether the log has the follower's next entry but not the one before it, which an
   * append has to name. Ratis before 3.3 does not check that: creating such an append throws, which
   * ends the appender.
   */
  private boolean lacksPrevious() {
    RaftLog log = appender.getRaftLog();
    long next = appender.getFollower().getNextIndex();
    // Called for each append: the log is searched only if the next entry is its first.
    if (next != log.getStartIndex()
        || next <= RaftLog.LEAST_VALID_LOG_INDEX
        || next >= log.getNextIndex()
        || log.getTermIndex(next - 1) != null) {
      return false;
    }
    SnapshotInfo latest = appender.getServer().getStateMachine().getLatestSnapshot();
    return latest == null || latest.getTermIndex().getIndex() != next - 1;
  }

  /** Sends or announces a snapshot if the follower needs one. */
  void installIfNeeded() throws IOException {
    if (sendsChunks) {
      SnapshotInfo snapshot = snapshotToSend();
      if (snapshot == null) {
        return;
      }
      try {
        send(snapshot);
      } catch (IOException | IllegalStateException e) {
        // The snapshot is sent again from its first chunk, as long as the follower needs it.
        LOG.warn("{}: cannot install snapshot {}", appender, snapshot, e);
      }
      return;
    }
    TermIndex first = firstAvailable();
    if (first == null) {
      return;
    }
    try {
      take(
          PeerProxy.await(
              rpc.installSnapshotAsync(
                  appender.newInstallSnapshotNotificationRequest(first), timeout),
              appender));
    } catch (IOException e) {
      LOG.warn("{}: cannot tell the follower to install a snapshot", appender, e);
    }
  }

  private void send(SnapshotInfo snapshot) throws IOException {
    LOG.info("{}: send snapshot {}", appender, snapshot);
    ArrayDeque<CompletableFuture<InstallSnapshotReplyProto>> flying = new ArrayDeque<>();
    String id = UUID.randomUUID().toString();
    for (InstallSnapshotRequestProto chunk : appender.newInstallSnapshotRequests(id, snapshot)) {
      if (!appender.isRunning()) {
        return;
      }
      appender.getFollower().updateLastRpcSendTime(false);
      flying.add(rpc.installSnapshotAsync(chunk, timeout));
      if (flying.size() >= mostOutstanding && !take(PeerProxy.await(flying.remove(), appender))) {
        return;
      }
    }
    while (!flying.isEmpty()) {
      if (!take(PeerProxy.await(flying.remove(), appender))) {
        return;
      }
    }
    appender.getFollower().setSnapshotIndex(snapshot.getTermIndex().getIndex());
    appender.getServer().getRaftServerMetrics().onSnapshotInstalled();
    LOG.info("{}: installed snapshot {}", appender, snapshot);
  }

  /**
   * Returns the first entry of the leader's log, if the follower needs an earlier one; else null.
   */
  private @Nullable TermIndex firstAvailable() {
    FollowerInfo follower = appender.getFollower();
    RaftLog log = appender.getRaftLog();
    if (appender.getLeaderState().isFollowerBootstrapping(follower)
        && !follower.hasAttemptedToInstallSnapshot()) {
      return first(log);
    }
    long next = follower.getNextIndex();
    long start = log.getStartIndex();
    boolean isBehind =
        next < log.getNextIndex() && (next < start || start == RaftLog.INVALID_LOG_INDEX);
    // A follower that has just installed a snapshot takes the entry after it without the one
    // before.
    boolean hasInstalled = next == follower.getSnapshotIndex() + 1;
    return isBehind || (!hasInstalled && lacksPrevious()) ? first(log) : null;
  }

  private TermIndex first(RaftLog log) {
    TermIndex first = log.getTermIndex(log.getStartIndex());
    // The log is empty: the next entry will be its first.
    return first != null
        ? first
        : TermIndex.valueOf(appender.getServer().getInfo().getCurrentTerm(), log.getNextIndex());
  }

  /** Handles a reply, and returns whether the follower continues with the snapshot. */
  private boolean take(InstallSnapshotReplyProto reply) {
    FollowerInfo follower = appender.getFollower();
    follower.updateLastRpcResponseTime();
    InstallSnapshotResult result = reply.getResult();
    switch (result) {
      case SUCCESS -> {
        follower.setAttemptedToInstallSnapshot();
        return true;
      }
      case IN_PROGRESS -> {
        return true;
      }
      case ALREADY_INSTALLED -> noteInstalled(reply.getSnapshotIndex());
      case SNAPSHOT_INSTALLED -> {
        noteInstalled(reply.getSnapshotIndex());
        if (reply.getSnapshotIndex() + 1 >= appender.getRaftLog().getStartIndex()) {
          tellStateMachine(InstallSnapshotResult.SUCCESS, reply.getSnapshotIndex());
        }
      }
      case SNAPSHOT_UNAVAILABLE -> {
        follower.setAttemptedToInstallSnapshot();
        tellStateMachine(result, RaftLog.INVALID_LOG_INDEX);
      }
      case NOT_LEADER -> appender.onFollowerTerm(reply.getTerm());
      case SNAPSHOT_EXPIRED -> follower.setAttemptedToInstallSnapshot();
      default ->
          LOG.error(
              "{}: result of a snapshot: {} (expected: the same {} at both ends)",
              appender,
              result,
              RaftServerConfigKeys.Log.Appender.INSTALL_SNAPSHOT_ENABLED_KEY);
    }
    return false;
  }

  private void noteInstalled(long snapshotIndex) {
    FollowerInfo follower = appender.getFollower();
    follower.setSnapshotIndex(snapshotIndex);
    follower.setAttemptedToInstallSnapshot();
    appender.getLeaderState().onFollowerCommitIndex(follower, snapshotIndex);
    follower.updateNextIndex(snapshotIndex + 1);
  }

  private void tellStateMachine(InstallSnapshotResult result, long snapshotIndex) {
    appender
        .getServer()
        .getStateMachine()
        .event()
        .notifySnapshotInstalled(result, snapshotIndex, appender.getFollower().getPeer());
  }
}
