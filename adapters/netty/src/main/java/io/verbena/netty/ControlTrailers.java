// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaException;
import io.verbena.core.memory.Location;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.verbs.SendWorkRequest;

/**
 * The {@link ControlWord control words} of messages as their last bytes, for devices whose SENDs
 * carry no immediate data, such as those of iWARP. The registered memory has one place for each
 * slot of a send queue. On the event loop's thread only.
 */
final class ControlTrailers {
  /** The bytes of a control word. */
  static final int LENGTH = Integer.BYTES;

  private final ByteBuf bytes;
  private final Location location = new Location();

  /**
   * @throws RdmaException if there is no memory, or the HCA does not register it
   */
  ControlTrailers(RegisteredMemory memory, int slots) {
    int length = slots * LENGTH;
    bytes = memory.allocator().directBuffer(length, length);
    if (!memory.locate(bytes, 0, length, location)) {
      bytes.release();
      throw new IllegalStateException("the control words have no registered memory");
    }
  }

  /** Appends the control word to a message that is about to be posted in this slot. */
  void append(SendWorkRequest request, int slot, int control) {
    int offset = slot * LENGTH;
    bytes.setInt(offset, control);
    request.buffers().add(location.address() + offset, LENGTH, location.lkey());
  }

  /** Returns the control word of a message of this length that has arrived in a buffer. */
  static int read(ByteBuf buffer, int length) {
    return buffer.getInt(length - LENGTH);
  }

  /** Releases the memory, once the queue pair is closed. */
  void release() {
    bytes.release();
  }
}
