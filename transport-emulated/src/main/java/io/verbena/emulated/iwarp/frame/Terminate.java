// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The payload of a TERMINATE (RFC 5040, section 4.8).
 *
 * <pre>
 *  layer 4 bits | type 4 bits | code 8 bits | M 1 D 1 R 1 | 0
 *  M: length of the DDP segment 2 | D: its header | R: its RDMAP header
 * </pre>
 *
 * The kernel's siw swaps layer and type, and has the three flags in the low bits of their octet.
 */
public final class Terminate {
  private static final int CONTROL_LENGTH = 4;
  private static final int CODE_OFFSET = 1;
  private static final int FLAGS_OFFSET = 2;
  private static final int HAS_LENGTH = 0x80;
  private static final int HAS_DDP_HEADER = 0x40;
  private static final int HAS_RDMAP_HEADER = 0x20;
  private static final int FLAGS = HAS_LENGTH | HAS_DDP_HEADER | HAS_RDMAP_HEADER;
  private static final int SIW_FLAGS = 0x07;
  private static final int NIBBLE = 0x0f;
  private static final int BYTE = 0xff;

  /** The longest payload: that for a READ request, with all of its bytes. */
  public static final int MAX_LENGTH =
      CONTROL_LENGTH + FpduLayout.UNTAGGED_END + FpduLayout.READ_REQUEST_LENGTH;

  private Terminate() {}

  /**
   * Reads the cause, with layer and type in the order of the RFC or of siw. The flags tell the
   * order; if none is set, siw's order is used only if the RFC's gives no known cause.
   *
   * @return the cause, or {@link TerminateCause#UNKNOWN}
   */
  public static TerminateCause parse(ByteBuffer bytes, int at, int length) {
    if (length < CONTROL_LENGTH) {
      return TerminateCause.UNKNOWN;
    }
    int first = bytes.get(at) & BYTE;
    int code = bytes.get(at + CODE_OFFSET) & BYTE;
    int flags = bytes.get(at + FLAGS_OFFSET);
    TerminateCause specified = TerminateCause.of(first >>> 4, first & NIBBLE, code);
    TerminateCause swapped = TerminateCause.of(first & NIBBLE, first >>> 4, code);
    boolean bySiw =
        (flags & SIW_FLAGS) != 0 || ((flags & FLAGS) == 0 && specified == TerminateCause.UNKNOWN);
    return bySiw ? swapped : specified;
  }

  /**
   * Writes the payload for a faulty FPDU.
   *
   * @param fpdu the header of the FPDU, or null if no FPDU was at fault
   * @return the length of the payload
   */
  public static int write(
      TerminateCause cause, @Nullable FpduHeader fpdu, ByteBuffer into, int at) {
    into.put(at, (byte) (cause.layer << 4 | cause.type));
    into.put(at + CODE_OFFSET, (byte) cause.code);
    into.putShort(at + FLAGS_OFFSET, (short) 0);
    if (fpdu == null) {
      return CONTROL_LENGTH;
    }
    into.put(at + FLAGS_OFFSET, (byte) (HAS_LENGTH | HAS_DDP_HEADER));
    int end = at + CONTROL_LENGTH;
    into.putShort(end, (short) fpdu.segmentLength());
    end += FpduLayout.LENGTH_LENGTH;
    end += fpdu.writeHeaders(into, end);
    return end - at;
  }
}
