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
 * FPDUs on their way into a channel: headers, trailers and small payload in a buffer of its own,
 * large payload in the memory that it comes from. That memory is looked up again before each later
 * attempt to write, since keys die. With CRCs all payload is copied: others may change the memory
 * until the channel takes it, and a CRC is of the bytes that go out.
 */
final class Gather {
  /** Payload up to here is copied: cheaper than one more buffer to gather from. */
  private static final int SMALL = 1024;

  private static final int OWN_BYTES = 8192;

  /** The same with CRCs, where all payload is in it: besides, the most of an FPDU. */
  private static final int CHECKED_BYTES = OWN_BYTES + Outbound.MOST_PAYLOAD;

  private static final int VIEWS = 8;

  /** Bytes after which it is written. */
  private static final int FULL = 256 * 1024;

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

  /** Where in {@link #own} the slice begins that is being written. */
  private int sliceStart;

  private boolean triedBefore;

  /** Bytes of the stream up to the end of what was added, and up to that of what was written. */
  private long added;

  private long written;

  /** Where the present content begins. */
  private long began;

  /** Where an FPDU begins that may be taken back. */
  private int mark;

  private int markedCount;
  private int markedViews;
  private int markedSlice;
  private int markedSliceStart;
  private long markedAdded;

  /** Memory in which some of the parts lie. */
  private static final class Shown {
    final MemoryView view = new MemoryView();
    Use use = Use.SEND;
    int key;
    long address;
    int start;
  }

  Gather(Placement placement) {
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

  /** Drops everything that it has. */
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

  /** Whether an FPDU of any kind may be added, in part at least. */
  boolean hasRoom() {
    return !triedBefore
        && views < VIEWS
        && added - began < FULL
        && ownRoom() >= (check.isOn() ? Outbound.MOST_PAYLOAD : SMALL);
  }

  /** Bytes of the stream up to the end of what was added. */
  long added() {
    return added;
  }

  /** Bytes of the stream that the channel took. */
  long written() {
    return written;
  }

  /** How much of a message's rest the next FPDU can carry, of buffers from a place on. */
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

  /** Adds payload that is copied; without CRCs no more than 1 KiB. */
  void payload(ByteBuffer from, int at, int length) {
    int to = own.position();
    own.put(to, from, at, length).position(to + length);
    check.take(own, to, length);
    added += length;
  }

  /** For payload that is written into it by the caller, up to where its position then is. */
  ByteBuffer own() {
    return own;
  }

  /** Adds what was just written to {@link #own} from a place on. */
  void payloadFrom(int at) {
    int length = own.position() - at;
    check.take(own, at, length);
    added += length;
  }

  /** Adds payload from the memory of a key; false if the key does not open it. */
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
      // Memory that its owner took back.
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

  /** Takes the FPDU back that was begun. */
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
   * @return false if memory that was to be written may not be read any more: the stream cannot go
   *     on
   */
  boolean write(GatheringByteChannel to) throws IOException {
    closeSlice();
    if (triedBefore && !isStillOpen()) {
      return false;
    }
    triedBefore = true;
    try {
      written += to.write(parts, first, count - first);
    } catch (RuntimeException | Error e) {
      // Memory that its owner took back, which no key tells.
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
   * Keeps only what must go out so that the peer can read what follows.
   *
   * @return false if that is memory which may not be read any more
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
   * As {@link #giveUpPayload}, while the memory of requests may still be read: copies what is left
   * of it, so that the peer can read what follows.
   */
  boolean copyPayload() {
    if (began != written && isStillOpen()) {
      copyRest();
    }
    return giveUpPayload();
  }

  /** Takes out what was added and not written. None of it may lie in memory of requests. */
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
          // Memory that its owner took back.
          return;
        }
        shownBy[i] = null;
      }
    }
  }
}
