// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyList;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.net.ConnectException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.RaftLog.EntryWithData;
import org.apache.ratis.server.raftlog.RaftLogIOException;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.util.TimeDuration;
import org.apache.ratis.util.Timestamp;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests what a log appender sends, and when. Mocks take the place of the leader's log and the
 * follower.
 */
class VerbenaLogAppenderTest {
  private static final long SECONDS = 10;

  /** Pauses after failures that outlast every test. */
  private static final String PAUSES = "1h,1000";

  private static final long FIRST = 5;
  private static final LogEntryProto ENTRY = LogEntryProto.newBuilder().setIndex(FIRST).build();

  /** A timeout with which one heartbeat follows the other; with the long one none is due. */
  private static final int SHORT_MILLIS = 2;

  private static final int LONG_MILLIS = 60_000;

  /** The range of entries that the log has, {@code end} excluded. */
  private record Logged(long first, long end) {}

  private final RaftProperties properties = new RaftProperties();
  private final RaftServer.Division division = mock(RaftServer.Division.class, RETURNS_DEEP_STUBS);
  private final LeaderState leader = mock(LeaderState.class);
  private final FollowerInfo follower = mock(FollowerInfo.class);
  private final VerbenaServerRpc rpc = mock(VerbenaServerRpc.class);

  private final RaftLog log = mock(RaftLog.class);
  private final SnapshotInfo snapshot = mock(SnapshotInfo.class);

  /** The replies for which the leader waits. */
  private final BlockingQueue<CompletableFuture<AppendEntriesReplyProto>> heartbeats =
      new LinkedBlockingQueue<>();

  private final BlockingQueue<CompletableFuture<AppendEntriesReplyProto>> appends =
      new LinkedBlockingQueue<>();

  /** One element for each attempt to send the snapshot. */
  private final BlockingQueue<Boolean> installs = new LinkedBlockingQueue<>();

  private final AtomicLong next = new AtomicLong(FIRST);
  private volatile Logged logged = new Logged(FIRST, FIRST);
  private volatile int timeoutMillis = LONG_MILLIS;
  private volatile Timestamp answered = Timestamp.currentTime();
  private @Nullable VerbenaLogAppender appender;

  @BeforeEach
  void start() throws Exception {
    RaftServerConfigKeys.Log.Appender.setRetryPolicy(properties, PAUSES);
    when(division.getRaftServer().getProperties()).thenReturn(properties);
    when(division.getRaftServer().getServerRpc()).thenReturn(rpc);
    when(division.getInfo().isAlive()).thenReturn(true);
    when(division.getInfo().isLeader()).thenReturn(true);
    when(division.properties().minRpcTimeoutMs()).thenAnswer(call -> timeoutMillis);
    when(follower.getName()).thenReturn("s0->s1");
    when(follower.getLastRpcResponseTime()).thenAnswer(call -> answered);
    when(follower.getLastHeartbeatSendTime()).thenReturn(Timestamp.currentTime());
    when(follower.getNextIndex()).thenAnswer(call -> next.get());
    doAnswer(
            call -> {
              next.set(call.getArgument(0));
              return null;
            })
        .when(follower)
        .increaseNextIndex(anyLong());
    when(division.getRaftLog()).thenReturn(log);
    when(log.isOpened()).thenReturn(true);
    when(log.getStartIndex()).thenAnswer(call -> logged.first);
    when(log.getTermIndex(FIRST - 1))
        .thenAnswer(call -> logged.first == FIRST ? TermIndex.valueOf(1, FIRST - 1) : null);
    when(log.getNextIndex()).thenAnswer(call -> logged.end);
    EntryWithData data = mock(EntryWithData.class);
    when(data.getSerializedSize()).thenReturn(ENTRY.getSerializedSize());
    when(data.getEntry(any())).thenReturn(ENTRY);
    when(log.getEntryWithData(FIRST)).thenReturn(data);
    when(division.getStateMachine().getLatestSnapshot()).thenReturn(snapshot);
    when(snapshot.getTermIndex()).thenReturn(TermIndex.valueOf(1, FIRST + 9));
    when(snapshot.getFiles())
        .thenAnswer(
            call -> {
              installs.add(true);
              throw new IllegalStateException("played");
            });
    when(leader.newAppendEntriesRequestProto(any(), anyList(), any(), anyLong()))
        .thenAnswer(
            call ->
                AppendEntriesRequestProto.newBuilder().addAllEntries(call.getArgument(1)).build());
    when(rpc.threads()).thenReturn(Runnable::run);
    when(rpc.appendEntriesAsync(any(), any()))
        .thenAnswer(
            call -> {
              AppendEntriesRequestProto request = call.getArgument(0);
              CompletableFuture<AppendEntriesReplyProto> reply = new CompletableFuture<>();
              (request.getEntriesCount() == 0 ? heartbeats : appends).add(reply);
              return reply;
            });
    appender = new VerbenaLogAppender(division, leader, follower);
    appender.start();
  }

  /** Called before a test changes mocks: Mockito allows no call of a mock meanwhile. */
  @AfterEach
  void stop() throws Exception {
    if (appender != null) {
      appender.stopAsync().get(SECONDS, TimeUnit.SECONDS);
    }
  }

  private void sendHeartbeats() {
    timeoutMillis = SHORT_MILLIS;
    appender.notifyLogAppender();
  }

  private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
    T element = queue.poll(SECONDS, TimeUnit.SECONDS);
    assertThat(element).isNotNull();
    return element;
  }

  @Test
  void aFailureOfBeforeTheFollowersLastAnswerDelaysNothing() throws InterruptedException {
    sendHeartbeats();
    CompletableFuture<AppendEntriesReplyProto> late = next(heartbeats);
    answered = Timestamp.currentTime();

    late.completeExceptionally(new ConnectException("played"));

    assertThat(next(heartbeats)).isNotSameAs(late);
  }

  @Test
  void pausesAsLongAsBeforeWhenThePolicyHasNoMoreAttempts() {
    RaftServerConfigKeys.Log.Appender.setRetryPolicy(properties, "200ms,1");
    VerbenaLogAppender retrying = new VerbenaLogAppender(division, leader, follower);

    for (int n = 0; n < 4; n++) {
      // Ratis takes a random pause of at least half that length.
      assertThat(retrying.nextPause())
          .isGreaterThanOrEqualTo(TimeDuration.valueOf(100, TimeUnit.MILLISECONDS));
    }
  }

  /** Ratis closes a follower that writes an entry after a snapshot that includes it. */
  @Test
  void aSnapshotWaitsForTheEntriesInFlight() throws InterruptedException {
    logged = new Logged(FIRST, FIRST + 1);
    appender.notifyLogAppender();
    CompletableFuture<AppendEntriesReplyProto> entry = next(appends);
    logged = new Logged(FIRST + 10, FIRST + 20);
    sendHeartbeats();
    for (int i = 0; i < 2; i++) {
      next(heartbeats).complete(AppendEntriesReplyProto.getDefaultInstance());
    }
    assertThat(installs).isEmpty();

    entry.complete(AppendEntriesReplyProto.newBuilder().setResult(AppendResult.SUCCESS).build());

    assertThat(next(installs)).isTrue();
  }

  /** The next entry is the first of the log: an append would need the entry before it. */
  @Test
  void tellsOfASnapshotWhereOnlyTheEntryBeforeTheNextIsMissing() throws Exception {
    stop();
    RaftServerConfigKeys.Log.Appender.setInstallSnapshotEnabled(properties, false);
    when(rpc.installSnapshotAsync(any(), any()))
        .thenAnswer(
            call -> {
              installs.add(true);
              throw new IOException("played");
            });
    when(division.getMemberId())
        .thenReturn(RaftGroupMemberId.valueOf(RaftPeerId.valueOf("s0"), RaftGroupId.randomId()));
    when(follower.getId()).thenReturn(RaftPeerId.valueOf("s1"));
    when(log.getTermIndex(FIRST - 1)).thenReturn(null);
    logged = new Logged(FIRST, FIRST + 1);
    appender = new VerbenaLogAppender(division, leader, follower);

    appender.start();

    assertThat(next(installs)).isTrue();
  }

  /** Ratis 3.2 does not replace an appender that is not running any more. */
  @Test
  void isReplacedWhileItRunsIfTheLogIsPurgedWhileAnAppendIsMade() throws Exception {
    stop();
    BlockingQueue<Boolean> replaced = new LinkedBlockingQueue<>();
    VerbenaLogAppender failing = new VerbenaLogAppender(division, leader, follower);
    appender = failing;
    doAnswer(call -> replaced.add(failing == call.getArgument(0) && failing.isRunning()))
        .when(leader)
        .restart(any());
    when(log.getEntryWithData(FIRST + 1))
        .thenAnswer(
            call -> {
              logged = new Logged(FIRST + 10, FIRST + 20);
              throw new RaftLogIOException("played");
            });
    logged = new Logged(FIRST, FIRST + 2);

    failing.start();

    assertThat(next(replaced)).isTrue();
    assertThat(appends).isEmpty();
  }

  /** The other appender may begin with a snapshot, which must not overtake an entry. */
  @Test
  void isReplacedOnlyOnceItsEntriesInFlightHaveTheirReplies() throws Exception {
    stop();
    BlockingQueue<Boolean> replaced = new LinkedBlockingQueue<>();
    BlockingQueue<Boolean> failed = new LinkedBlockingQueue<>();
    doAnswer(call -> replaced.add(true)).when(leader).restart(any());
    EntryWithData second = mock(EntryWithData.class);
    LogEntryProto entry = LogEntryProto.newBuilder().setIndex(FIRST + 1).build();
    when(second.getSerializedSize()).thenReturn(entry.getSerializedSize());
    when(second.getEntry(any())).thenReturn(entry);
    when(log.getEntryWithData(FIRST + 1)).thenReturn(second);
    when(log.getTermIndex(FIRST)).thenReturn(TermIndex.valueOf(1, FIRST));
    when(log.getTermIndex(FIRST + 1)).thenReturn(TermIndex.valueOf(1, FIRST + 1));
    when(log.getEntryWithData(FIRST + 2))
        .thenAnswer(
            call -> {
              failed.add(true);
              throw new RaftLogIOException("played");
            });
    when(division.properties().rpcSleepTime())
        .thenReturn(TimeDuration.valueOf(1, TimeUnit.MILLISECONDS));
    AppendEntriesReplyProto success =
        AppendEntriesReplyProto.newBuilder().setResult(AppendResult.SUCCESS).build();
    logged = new Logged(FIRST, FIRST + 1);
    appender = new VerbenaLogAppender(division, leader, follower);
    appender.start();
    next(appends).complete(success);
    logged = new Logged(FIRST, FIRST + 2);
    appender.notifyLogAppender();
    CompletableFuture<AppendEntriesReplyProto> inFlight = next(appends);

    logged = new Logged(FIRST, FIRST + 3);
    appender.notifyLogAppender();
    assertThat(next(failed)).isTrue();
    assertThat(replaced.poll(200, TimeUnit.MILLISECONDS)).isNull();
    inFlight.complete(success);

    assertThat(next(replaced)).isTrue();
  }

  @Test
  void goesOnWhereAFollowersAddressIsNotKnownForAMoment() throws Exception {
    stop();
    RaftServerConfigKeys.Log.Appender.setRetryPolicy(properties, "1ms,1000");
    AtomicBoolean known = new AtomicBoolean();
    doAnswer(
            call -> {
              if (!known.getAndSet(true)) {
                throw new IOException("played");
              }
              CompletableFuture<AppendEntriesReplyProto> reply = new CompletableFuture<>();
              appends.add(reply);
              return reply;
            })
        .when(rpc)
        .appendEntriesAsync(any(), any());
    logged = new Logged(FIRST, FIRST + 1);
    appender = new VerbenaLogAppender(division, leader, follower);

    appender.start();
    sendHeartbeats();

    assertThat(next(appends)).isNotDone();
  }
}
