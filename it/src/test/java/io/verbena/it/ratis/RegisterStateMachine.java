// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.MD5FileUtil;

/**
 * Registers by number, initially 0. After a restart their values come from a snapshot, a file with
 * a line for each register, and from Ratis's log after the snapshot.
 */
final class RegisterStateMachine extends BaseStateMachine {
  /** Receives the events of a server. */
  interface Listener {
    /** Called when this server has become the leader, and serves. */
    void leads();

    /** Called when the leader has sent a snapshot, since its log does not reach back far enough. */
    void installed(long index);
  }

  private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
  private final Listener listener;

  /** A snapshot replaces the map: a read sees the values before the snapshot, or those in it. */
  private volatile Map<Integer, Long> registers = new ConcurrentHashMap<>();

  RegisterStateMachine(Listener listener) {
    this.listener = listener;
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId group, RaftStorage raftStorage)
      throws IOException {
    getLifeCycle()
        .startAndTransition(
            () -> {
              super.initialize(server, group, raftStorage);
              storage.init(raftStorage);
              load();
            });
  }

  @Override
  public void pause() {
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  @Override
  public void reinitialize() throws IOException {
    load();
    getLifeCycle().transition(LifeCycle.State.STARTING);
    getLifeCycle().transition(LifeCycle.State.RUNNING);
    listener.installed(getLastAppliedTermIndex().getIndex());
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return storage;
  }

  private void load() throws IOException {
    SingleFileSnapshotInfo latest = storage.loadLatestSnapshot();
    if (latest == null) {
      return;
    }
    File file = latest.getFile().getPath().toFile();
    MD5Hash digest = latest.getFile().getFileDigest();
    if (digest != null) {
      MD5FileUtil.verifySavedMD5(file, digest);
    }
    registers =
        Files.readAllLines(file.toPath()).stream()
            .map(line -> line.split(" ", -1))
            .collect(
                Collectors.toConcurrentMap(
                    words -> Integer.valueOf(words[0]), words -> Long.valueOf(words[1])));
    setLastAppliedTermIndex(latest.getTermIndex());
  }

  /** Moves the complete file to its place, as the server may be killed meanwhile. */
  @Override
  public long takeSnapshot() throws IOException {
    TermIndex last = getLastAppliedTermIndex();
    File file = storage.getSnapshotFile(last.getTerm(), last.getIndex());
    Path written = file.toPath().resolveSibling("being-written");
    Files.write(
        written,
        registers.entrySet().stream()
            .map(each -> each.getKey() + " " + each.getValue())
            .sorted()
            .toList());
    Files.move(written, file.toPath(), StandardCopyOption.ATOMIC_MOVE);
    MD5Hash digest = MD5FileUtil.computeAndSaveMd5ForFile(file);
    storage.updateLatestSnapshot(
        new SingleFileSnapshotInfo(new FileInfo(file.toPath(), digest), last));
    return last.getIndex();
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto entry = transaction.getLogEntry();
    Request request = Request.parse(entry.getStateMachineLogEntry().getLogData().toStringUtf8());
    long before = value(request);
    registers.put(request.register(), request.after(before));
    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    return answer(before);
  }

  @Override
  public CompletableFuture<Message> query(Message get) {
    return answer(value(Request.parse(get.getContent().toStringUtf8())));
  }

  private long value(Request request) {
    return registers.getOrDefault(request.register(), 0L);
  }

  private static CompletableFuture<Message> answer(long before) {
    return CompletableFuture.completedFuture(Message.valueOf(Long.toString(before)));
  }

  @Override
  public void notifyLeaderReady() {
    listener.leads();
  }
}
