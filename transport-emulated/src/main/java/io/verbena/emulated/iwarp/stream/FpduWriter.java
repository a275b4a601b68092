// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import io.verbena.emulated.iwarp.frame.FpduCheck;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.FpduLayout;
import io.verbena.emulated.iwarp.stream.Placement.Use;
import io.verbena.verbs.ScatterGatherList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * Collects FPDUs and writes them to a channel. Headers, trailers and small payload are in a buffer
 * of this object; large payload stays in the memory of the requests. That memory is looked up again
 * before each later attempt to write, since keys may die meanwhile. With CRCs all payload is
 * copied: the program may change the memory until the channel takes the bytes, and the CRC must
 * match the bytes that go out.
 */
final class FpduWriter {
  /**
   * Payload of up to this length is copied, which is cheaper than one more buffer to gather from.
   */
  private static final int SMALL = 1024;

  private static final int OWN_BYTES = 8192;

  /** The size of the buffer with CRCs, when it holds all payload: room for one more FPDU. */
  private static final int CHECKED_BYTES = OWN_BYTES + Outbound.MOST_PAYLOAD;

  private static final int VIEWS = 8;

  /** The number of bytes after which no more FPDUs are added before a write. */
  private static final int FULL = 512 * 1024;

  private final Placement placement;
  private ByteBuffer own = ByteBuffer.allocateDirect(OWN_BYTES);
  private final ByteBuffer[] slices = new ByteBuffer[VIEWS + 1];
  private final Shown[] shown = new Shown[VIEWS];
  private final ByteBuffer[] parts = new ByteBuffer[2 * VIEWS + 1];
  private final @Nullable Shown[] shownBy = new @Nullable Shown[2 * VIEWS + 1];
  private final FpduCheck check = new FpduCheck();
  private final MemoryView small = new MemoryView();
  private final BufferCursor ahead = new BufferCursor();

  private int slice;
  private int views;
  private int count;
  private int first;

  /** The position in {@link #own} at which the slice that is being written begins. */
  private int sliceStart;

  private boolean triedBefore;

  /**
   * The number of bytes of the stream that were added; {@link #written} counts those that the
   * channel took.
   */
  private long added;

  private long written;

  /** The position in the stream at which the present content begins. */
  private long began;

  /** The state at the start of an FPDU, to take the FPDU back. */
  private int mark;

  private int markedCount;
  private int markedViews;
  private int markedSlice;
  private int markedSliceStart;
  private long markedAdded;

  /** Memory of a request, in which one of the parts lies. */
  private static final class Shown {
    final MemoryView view = new MemoryView();
    Use use = Use.SEND;
    int key;
    long address;
    int start;
  }

  FpduWriter(Placement placement) {
    this.placement = placement;
    slice();
    for (int i = 0; i < shown.length; i++) {
      shown[i] = new Shown();
    }
  }

  private void slice() {
    for (int i = 0; i < slices.length; i++) {
      slices[i] = own.duplicate();
    }
  }

  /** Begins a stream. */
  void start(boolean crc) {
    if (crc && own.capacity() < CHECKED_BYTES) {
      own = ByteBuffer.allocateDirect(CHECKED_BYTES);
      slice();
    }
    clear();
    added = 0;
    written = 0;
    began = 0;
    check.on(crc);
  }

  /** Drops all bytes. */
  void clear() {
    reset();
    for (Shown each : shown) {
      each.view.clear();
    }
    small.clear();
  }

  private void reset() {
    own.clear();
    slice = 0;
    views = 0;
    count = 0;
    first = 0;
    sliceStart = 0;
    triedBefore = false;
    began = added;
  }

  boolean isEmpty() {
    return added == written;
  }

  /** Returns whether an FPDU of any kind may be added, at least in part. */
  boolean hasRoom() {
    return !triedBefore
        && views < VIEWS
        && added - began < FULL
        && ownRoom() >= (check.isOn() ? Outbound.MOST_PAYLOAD : SMALL);
  }

  /** Returns the number of bytes of the stream that were added. */
  long added() {
    return added;
  }

  /** Returns the number of bytes of the stream that the channel took. */
  long written() {
    return written;
  }

  /**
   * Returns the number of bytes that the next FPDU can carry of these buffers, from a position on.
   */
  int measure(ScatterGatherList buffers, BufferCursor from, int most) {
    ahead.moveTo(from);
    int length = 0;
    int viewsLeft = VIEWS - views;
    int room = ownRoom();
    while (length < most) {
      int piece = Math.min(ahead.piece(buffers), most - length);
      if (piece == 0) {
        break;
      }
      if (isCopied(piece)) {
        if (piece > room) {
          break;
        }
        room -= piece;
      } else {
        if (viewsLeft == 0) {
          break;
        }
        viewsLeft--;
      }
      ahead.advance(piece);
      length += piece;
    }
    return length;
  }

  private boolean isCopied(int length) {
    return length <= SMALL || check.isOn();
  }

  private int ownRoom() {
    return own.remaining() - FpduLayout.MAX_HEADER - FpduLayout.MAX_TRAILER;
  }

  /** Adds a header; the payload and {@link #end} follow, or {@link #takeBack}. */
  void begin(FpduHeader header) {
    mark = own.position();
    markedCount = count;
    markedViews = views;
    markedSlice = slice;
    markedSliceStart = sliceStart;
    markedAdded = added;
    check.begin();
    header.write(own);
    check.take(own, mark, own.position() - mark);
    added += own.position() - mark;
  }

  /** Adds payload that is copied; without CRCs at most 1 KiB. */
  void payload(ByteBuffer from, int at, int length) {
    int to = own.position();
    own.put(to, from, at, length).position(to + length);
    check.take(own, to, length);
    added += length;
  }

  /** Returns the buffer of this object, for payload that the caller writes at its position. */
  ByteBuffer own() {
    return own;
  }

  /** Adds the bytes that were just written to {@link #own} from a position on. */
  void payloadFrom(int at) {
    int length = own.position() - at;
    check.take(own, at, length);
    added += length;
  }

  /** Adds payload from the memory of a key; returns false if the key does not open the memory. */
  boolean payload(Use use, int key, long address, int length) {
    if (isCopied(length)) {
      return copy(use, key, address, length);
    }
    Shown next = shown[views];
    if (!placement.show(use, key, address, length, next.view)) {
      return false;
    }
    ByteBuffer bytes = next.view.bytes();
    next.use = use;
    next.key = key;
    next.address = address;
    next.start = bytes.position();
    closeSlice();
    parts[count] = bytes;
    shownBy[count] = next;
    count++;
    views++;
    added += length;
    return true;
  }

  private boolean copy(Use use, int key, long address, int length) {
    if (!placement.show(use, key, address, length, small)) {
      return false;
    }
    ByteBuffer bytes = small.bytes();
    try {
      payload(bytes, bytes.position(), length);
      return true;
    } catch (RuntimeException | Error e) {
      // The owner took the memory away.
      return false;
    }
  }

  /** Ends the FPDU. */
  void end(FpduHeader header) {
    int from = own.position();
    int pad = header.pad();
    for (int i = 0; i < pad; i++) {
      own.put((byte) 0);
    }
    check.take(own, from, pad);
    own.putInt(check.field());
    added += own.position() - from;
  }

  /** Takes back the FPDU that was begun. */
  void takeBack() {
    own.position(mark);
    count = markedCount;
    views = markedViews;
    slice = markedSlice;
    sliceStart = markedSliceStart;
    added = markedAdded;
  }

  private void closeSlice() {
    int end = own.position();
    if (end > sliceStart) {
      parts[count] = slices[slice].limit(end).position(sliceStart);
      shownBy[count] = null;
      count++;
      slice++;
      sliceStart = end;
    }
  }

  /**
   * Writes as much as the channel takes.
   *
   * @return false if memory to be sent may no longer be read: the stream cannot go on
   */
  boolean write(GatheringByteChannel to) throws IOException {
    closeSlice();
    if (triedBefore && !isStillOpen()) {
      return false;
    }
    triedBefore = true;
    try {
      // The system call for several buffers costs more.
      written +=
          count - first == 1 ? to.write(parts[first]) : to.write(parts, first, count - first);
    } catch (RuntimeException | Error e) {
      // The owner took the memory away, which the key does not show.
      return false;
    }
    while (first < count && !parts[first].hasRemaining()) {
      first++;
    }
    if (first == count) {
      reset();
    }
    return true;
  }

  private boolean isStillOpen() {
    for (int i = first; i < count; i++) {
      Shown each = shownBy[i];
      if (each != null) {
        ByteBuffer bytes = parts[i];
        long at = each.address + (bytes.position() - each.start);
        if (!placement.permits(each.use, each.key, at, bytes.remaining())) {
          return false;
        }
      }
    }
    return true;
  }

  /**
   * Drops all FPDUs, unless some of their bytes are written: then keeps the others, so that the
   * peer can parse the bytes that follow.
   *
   * @return false if bytes to keep are in memory that may no longer be read
   */
  boolean giveUpPayload() {
    if (began == written) {
      added = written;
      reset();
      return true;
    }
    for (int i = first; i < count; i++) {
      if (shownBy[i] != null) {
        return false;
      }
    }
    return true;
  }

  /**
   * Does the same as {@link #giveUpPayload}, but first copies the bytes to keep out of the memory
   * of requests, if that may still be read.
   */
  boolean copyPayload() {
    if (began != written && isStillOpen()) {
      copyRest();
    }
    return giveUpPayload();
  }

  /**
   * Removes and returns the bytes that were added and not written. None of them may be in memory of
   * requests.
   */
  ByteBuffer takeRest() {
    closeSlice();
    ByteBuffer rest = ByteBuffer.allocate((int) (added - written));
    for (int i = first; i < count; i++) {
      rest.put(parts[i]);
    }
    written = added;
    reset();
    return rest.flip();
  }

  private void copyRest() {
    for (int i = first; i < count; i++) {
      if (shownBy[i] != null) {
        ByteBuffer rest = parts[i];
        try {
          parts[i] = ByteBuffer.allocate(rest.remaining()).put(rest.duplicate()).flip();
        } catch (RuntimeException | Error e) {
          // The owner took the memory away.
          return;
        }
        shownBy[i] = null;
      }
    }
  }
}
