// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.wire;

import io.netty.buffer.ByteBuf;

/** Parses frames. Their content is not trusted: nothing behind the end of a frame is read. */
public final class FrameReader {

  /**
   * Handles the parts of a frame, in their order. Lengths and offsets are within the frame and the
   * limits; the handler checks all other numbers. What it throws ends the reading.
   */
  public interface Handler {
    /** Takes the grants of the header. */
    void granted(int frames, int messages, int immediates);

    /** Takes a message of {@code length} bytes from {@code start} on. */
    void message(ByteBuf frame, int start, int length);

    /**
     * Takes the announcement of a message of {@code length} bytes, at least 1, in the peer's
     * memory.
     */
    void rendezvous(int length, int id, int key, long address);

    /** Takes a DONE: the peer has read all rendezvous up to {@code id}. */
    void done(int id);

    /**
     * Takes a CLOSE: the peer sends no more messages.
     *
     * @param stop whether the peer drops further messages
     */
    void closing(boolean stop);

    /** Takes {@code count} credits of frames that the peer gives back; it may be negative. */
    void returned(int count);

    /** Takes immediate data of a WRITE of {@code length} bytes, which may be negative. */
    void immediate(int value, int length);
  }

  private FrameReader() {}

  /**
   * Reads a frame.
   *
   * @param frame the frame, from index 0 on
   * @param length its length in bytes
   * @param longest the longest message in bytes that is accepted
   * @throws ProtocolException if the frame is malformed; the parts before the error were handled
   */
  public static void read(ByteBuf frame, int length, int longest, Handler to) {
    if (length < FrameLayout.HEADER_LENGTH) {
      throw ProtocolException.malformed("frame length", length, ">= 16");
    }
    long first = frame.getLong(FrameLayout.FIRST_OFFSET);
    long second = frame.getLong(FrameLayout.SECOND_OFFSET);
    if (!FrameLayout.isFrame(first)) {
      throw ProtocolException.malformed("frame type", first >>> 48, "0x5600");
    }
    to.granted(
        FrameLayout.frames(first), FrameLayout.messages(second), FrameLayout.immediates(second));
    int at = FrameLayout.HEADER_LENGTH;
    for (int left = FrameLayout.records(first); left > 0; left--) {
      at = record(frame, at, length, longest, to);
    }
    if (at < length) {
      throw ProtocolException.malformed("bytes behind the last record", length - at, "0");
    }
  }

  /** Reads one record, and returns where the next begins. */
  private static int record(ByteBuf frame, int at, int end, int longest, Handler to) {
    need(RecordLayout.HEADER_LENGTH, at, end);
    long header = frame.getLong(at);
    int length = RecordLayout.length(header);
    int kind = RecordLayout.kind(header);
    if (kind == RecordLayout.MESSAGE) {
      int start = at + RecordLayout.HEADER_LENGTH;
      if (length < 0 || length > end - start || length > longest) {
        throw ProtocolException.malformed(
            "message length", length, "0.." + Math.min(longest, end - start));
      }
      to.message(frame, start, length);
      return start + RecordLayout.padded(length);
    }
    return switch (kind) {
      case RecordLayout.RENDEZVOUS -> {
        need(RecordLayout.RENDEZVOUS_LENGTH, at, end);
        if (length < 1 || length > longest) {
          throw ProtocolException.malformed("message length", length, "1.." + longest);
        }
        to.rendezvous(
            length,
            frame.getInt(at + RecordLayout.ID_OFFSET),
            frame.getInt(at + RecordLayout.KEY_OFFSET),
            frame.getLong(at + RecordLayout.ADDRESS_OFFSET));
        yield at + RecordLayout.RENDEZVOUS_LENGTH;
      }
      case RecordLayout.DONE -> {
        need(RecordLayout.DONE_LENGTH, at, end);
        to.done(frame.getInt(at + RecordLayout.ID_OFFSET));
        yield at + RecordLayout.DONE_LENGTH;
      }
      case RecordLayout.CLOSE -> {
        to.closing(length == RecordLayout.STOP);
        yield at + RecordLayout.CLOSE_LENGTH;
      }
      case RecordLayout.IMMEDIATE -> {
        need(RecordLayout.IMMEDIATE_LENGTH, at, end);
        to.immediate(frame.getInt(at + RecordLayout.VALUE_OFFSET), length);
        yield at + RecordLayout.IMMEDIATE_LENGTH;
      }
      case RecordLayout.RETURN -> {
        to.returned(length);
        yield at + RecordLayout.RETURN_LENGTH;
      }
      default -> throw ProtocolException.malformed("record kind", header >>> 56, "1..6");
    };
  }

  private static void need(int length, int at, int end) {
    if (length > end - at) {
      throw ProtocolException.malformed("bytes of a record", end - at, ">= " + length);
    }
  }
}
