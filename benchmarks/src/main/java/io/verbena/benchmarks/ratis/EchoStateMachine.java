// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.ratis;

import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;

/** Replies to each entry with its first bytes, and releases the log behind it. */
final class EchoStateMachine extends BaseStateMachine {
  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto entry = transaction.getLogEntry();
    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    return CompletableFuture.completedFuture(
        Message.valueOf(entry.getStateMachineLogEntry().getLogData().substring(0, Long.BYTES)));
  }

  @Override
  public long takeSnapshot() {
    return getLastAppliedTermIndex().getIndex();
  }
}
