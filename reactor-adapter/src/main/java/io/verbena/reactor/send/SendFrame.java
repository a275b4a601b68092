// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaException;
import io.verbena.core.memory.Location;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.queue.RequestOwner;
import io.verbena.reactor.wire.FrameLayout;
import io.verbena.reactor.wire.RecordLayout;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * A frame that is being filled or in flight: a registered buffer, and behind it at most one message
 * that the HCA gathers from its own memory. It is used again and again. Only on the loop.
 */
final class SendFrame implements RequestOwner {
  final ByteBuf buffer;
  private final long address;
  private final int lkey;
  private int end;
  private int records;
  private @Nullable ByteBuf payload;
  private long payloadAddress;
  private int payloadLength;
  private int payloadKey;
  private @Nullable FramesInFlight owner;
  private @Nullable FrameWaiter waiters;

  /** Its place in the order of frames with data; meaningless for others. */
  long number;

  /** Whether it has, or is for, messages, rendezvous or immediates. */
  boolean data;

  /** Whether it has a CLOSE. */
  boolean closes;

  SendFrame(ByteBuf buffer, Location at) {
    this.buffer = buffer;
    address = at.address();
    lkey = at.lkey();
  }

  void open(FramesInFlight newOwner, boolean forData) {
    owner = newOwner;
    data = forData;
    closes = false;
    end = FrameLayout.HEADER_LENGTH;
    records = 0;
  }

  boolean isEmpty() {
    return records == 0;
  }

  boolean isGathered() {
    return payload != null;
  }

  /**
   * Returns whether a record of so many bytes fits within {@code limit}, and may come behind the
   * others.
   */
  boolean hasRoom(int length, int limit) {
    return length <= limit - end
        && payload == null
        && records < FrameLayout.MAX_RECORDS - FrameLayout.CONTROL_RECORDS;
  }

  /** Adds a message by copying it. */
  void message(ByteBuf message, int length) {
    int at = end;
    ByteBuf to = buffer;
    to.setLong(at, RecordLayout.header(RecordLayout.MESSAGE, length));
    to.setBytes(at + RecordLayout.HEADER_LENGTH, message, message.readerIndex(), length);
    end = at + RecordLayout.HEADER_LENGTH + RecordLayout.padded(length);
    records++;
  }

  /**
   * Adds a message as the last record, which the HCA gathers from its own memory; it belongs to the
   * frame until the HCA has released it.
   */
  void gather(ByteBuf message, int length, Location at) {
    buffer.setLong(end, RecordLayout.header(RecordLayout.MESSAGE, length));
    end += RecordLayout.HEADER_LENGTH;
    records++;
    payload = message;
    payloadAddress = at.address();
    payloadLength = length;
    payloadKey = at.lkey();
  }

  void rendezvous(int length, int id, int key, long remoteAddress) {
    buffer.setLong(end, RecordLayout.header(RecordLayout.RENDEZVOUS, length));
    buffer.setInt(end + RecordLayout.ID_OFFSET, id);
    buffer.setInt(end + RecordLayout.KEY_OFFSET, key);
    buffer.setLong(end + RecordLayout.ADDRESS_OFFSET, remoteAddress);
    end += RecordLayout.RENDEZVOUS_LENGTH;
    records++;
  }

  void immediate(int length, int value) {
    buffer.setLong(end, RecordLayout.header(RecordLayout.IMMEDIATE, length));
    buffer.setLong(end + RecordLayout.VALUE_OFFSET, (long) value << 32);
    end += RecordLayout.IMMEDIATE_LENGTH;
    records++;
  }

  void done(int id) {
    buffer.setLong(end, RecordLayout.header(RecordLayout.DONE, 0));
    buffer.setLong(end + RecordLayout.ID_OFFSET, (long) id << 32);
    end += RecordLayout.DONE_LENGTH;
    records++;
  }

  void close(boolean stop) {
    buffer.setLong(end, RecordLayout.header(RecordLayout.CLOSE, stop ? RecordLayout.STOP : 0));
    end += RecordLayout.CLOSE_LENGTH;
    records++;
    closes = true;
  }

  void giveBack(int credits) {
    buffer.setLong(end, RecordLayout.header(RecordLayout.RETURN, credits));
    end += RecordLayout.RETURN_LENGTH;
    records++;
  }

  /** Writes the header. */
  void seal(int frames, int messages, int immediates) {
    buffer.setLong(FrameLayout.FIRST_OFFSET, FrameLayout.first(records, frames));
    buffer.setLong(FrameLayout.SECOND_OFFSET, FrameLayout.second(messages, immediates));
  }

  /**
   * Fills a request that sends this frame, inline if it has no more than {@code inlineLimit} bytes.
   */
  SendWorkRequest describe(SendWorkRequest request, int inlineLimit) {
    if (payload != null) {
      request.send().buffer(address, end, lkey);
      request.buffers().add(payloadAddress, payloadLength, payloadKey);
    } else if (end <= inlineLimit) {
      request.send().inline(buffer.internalNioBuffer(0, end));
    } else {
      request.send().buffer(address, end, lkey);
    }
    return request;
  }

  /** Calls {@code waiter} when this frame has arrived. */
  void notifyWhenArrived(FrameWaiter waiter) {
    waiter.nextWaiter(waiters);
    waiters = waiter;
  }

  @Nullable FrameWaiter takeWaiters() {
    FrameWaiter first = waiters;
    waiters = null;
    return first;
  }

  void releasePayload() {
    ByteBuf message = payload;
    if (message != null) {
      payload = null;
      try {
        message.release();
      } catch (RuntimeException e) {
        // The frame must be used again all the same, and its waiters must be called.
        FailureGuard.drop(e);
      }
    }
  }

  private FramesInFlight owner() {
    FramesInFlight frames = owner;
    if (frames == null) {
      throw new IllegalStateException("a frame without an owner");
    }
    owner = null;
    return frames;
  }

  @Override
  public String operation() {
    return "send";
  }

  @Override
  public void overdue(RdmaException error) {
    // The end of the connection signals the sends.
  }

  @Override
  public void succeeded() {
    owner().arrived(this);
  }

  @Override
  public void failed(RdmaException error) {
    owner().lost(this, error);
  }
}
