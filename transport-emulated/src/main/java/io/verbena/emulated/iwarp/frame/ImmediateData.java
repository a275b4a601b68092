// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import java.nio.ByteBuffer;

/**
 * The payload of a message of immediate data (RFC 7306, section 6.2): 8 bytes, of which the verbs
 * use 4. This class uses the first 4, like the kernel's cxgb4 ({@code t4fw_ri_api.h}, {@code struct
 * fw_ri_rdma_write_wr}); the others are written as 0, and ignored.
 */
public final class ImmediateData {
  private ImmediateData() {}

  /** Appends the payload. */
  public static void write(ByteBuffer to, int immediate) {
    to.putInt(immediate).putInt(0);
  }

  /** Reads the payload. */
  public static int parse(ByteBuffer bytes, int at) {
    return bytes.getInt(at);
  }
}
