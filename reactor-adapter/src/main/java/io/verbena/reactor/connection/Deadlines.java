// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.MemoryLimitException;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTimeoutException;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.reactor.onesided.OneSidedOperations;
import io.verbena.reactor.queue.RequestOwner;
import io.verbena.reactor.queue.SendSlots;
import io.verbena.reactor.receive.MessageReceiver;
import io.verbena.reactor.send.MessageSender;

/**
 * The deadlines of a connection, on the loop's coarse clock: of operations, within {@code
 * operationTimeout}; of the close, and then of the flush, each within {@code closeTimeout}. Only on
 * the loop.
 */
final class Deadlines {
  private final CompletionLoop loop;
  private final RdmaOptions options;
  private final SendSlots sends;
  private final MessageReceiver receiver;
  private final String peer;
  private final Terminable connection;
  private final int operationTicks;
  private final int closeTicks;
  private boolean closing;
  private int closingSince;

  /** Creates deadlines that end {@code connection} when they have passed. */
  Deadlines(
      CompletionLoop loop,
      RdmaOptions options,
      SendSlots sends,
      MessageReceiver receiver,
      String peer,
      Terminable connection) {
    this.loop = loop;
    this.options = options;
    this.sends = sends;
    this.receiver = receiver;
    this.peer = peer;
    this.connection = connection;
    operationTicks = loop.ticks(options.operationTimeout().toNanos());
    closeTicks = loop.ticks(options.closeTimeout().toNanos());
  }

  // ---- of the close

  /** Returns how many ticks the close may take, and the flush as many. */
  int closeTicks() {
    return closeTicks;
  }

  /** Starts the deadline of the close, unless it runs already. */
  void startClose() {
    if (!closing) {
      restartClose();
    }
  }

  /** Starts the deadline anew, for the close or for the flush. */
  void restartClose() {
    closingSince = loop.tick();
    if (!closing) {
      closing = true;
      sends.ticks().ask();
    }
  }

  /** Returns whether the deadline of the close, or of the flush, has passed. */
  boolean isCloseOverdue() {
    return closing && loop.tick() - closingSince > closeTicks;
  }

  /** Stops the deadline of the close, or of the flush. */
  void stopClose() {
    closing = false;
  }

  // ---- of an open connection

  /** Returns whether anything has a deadline. */
  boolean isWaiting(MessageSender sender, OneSidedOperations operations) {
    return closing
        || !sends.isEmpty()
        || sender.isStuck()
        || sender.hasMoreFrames()
        || operations.isWaiting()
        || receiver.hasUnreadMessage();
  }

  /**
   * Checks the deadlines, on a tick: fails what has waited for too long, or ends the connection.
   */
  void check(MessageSender sender, OneSidedOperations operations) {
    sender.tick();
    operations.expire(operationTicks);
    RequestOwner late = sends.overdue(operationTicks);
    if (late != null) {
      RdmaException why = late.overdueError(peer, options.operationTimeout());
      late.overdue(why);
      connection.terminate(why);
    } else if (sender.isOverdue(operationTicks)) {
      connection.terminate(
          new RdmaTimeoutException(
              "send",
              peer,
              "no credit of the peer, no slot or no memory came free within "
                  + options.operationTimeout()));
    } else if (receiver.isOutOfMemory()) {
      connection.terminate(
          new MemoryLimitException(
              "receive",
              peer,
              receiver.isAllocating()
                  ? "the memory for a long message was not allocated and registered within "
                      + options.operationTimeout()
                      + "; raise RdmaOptions.operationTimeout, or send less in one message"
                  : "no memory for a long message within "
                      + options.operationTimeout()
                      + "; release buffers, or raise RdmaOptions.maxRegisteredBytes"));
    } else if (isCloseOverdue()) {
      connection.terminate(
          sender.isCloseArrived()
              ? null
              : new RdmaTimeoutException(
                  "close",
                  peer,
                  "operations under way were not done within "
                      + options.closeTimeout()
                      + "; end sends without end by RdmaConnection.onPeerClosing, and cancel"
                      + " receive() before close() to drop further messages"));
    }
  }
}
