// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;

/** Registers by number, 0 at first. What they have after a restart they have from Ratis's log. */
final class RegisterStateMachine extends BaseStateMachine {
  private final Map<Integer, Long> registers = new ConcurrentHashMap<>();
  private final Runnable leads;

  /**
   * @param leads is told whenever this server has become the leader, and serves
   */
  RegisterStateMachine(Runnable leads) {
    this.leads = leads;
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
    leads.run();
  }
}
