// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty.wire;

import io.verbena.RejectReason;
import io.verbena.core.cm.ProgramPrivateData;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The private data of a rejection: the magic number of the {@link Handshake}, and the reason. */
public final class Rejection {
  private Rejection() {}

  /** Returns the bytes to send. */
  public static ByteBuffer encode(RejectReason reason) {
    return ProgramPrivateData.append(
        ByteBuffer.allocate(Integer.BYTES).putInt(0, Handshake.MAGIC), reason);
  }

  /** Reads a server's rejection; returns null if it has no reason. */
  public static @Nullable RejectReason decode(ByteBuffer data) {
    return data.remaining() >= Integer.BYTES && data.getInt(data.position()) == Handshake.MAGIC
        ? ProgramPrivateData.readReason(data, Integer.BYTES)
        : null;
  }
}
