// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

/**
 * The terms that both ends of a stream agree on when it starts.
 *
 * @param crc whether FPDUs have CRCs
 * @param extensions whether both ends support the atomics and immediate data of RFC 7306
 * @param responderDepth the most READs and atomics that this end serves at a time
 * @param initiatorDepth the most READs and atomics that this end has outstanding at a time
 * @param role the role of this end
 */
public record StreamTerms(
    boolean crc, boolean extensions, int responderDepth, int initiatorDepth, Role role) {

  /** Terms without extensions. */
  public StreamTerms(boolean crc, int responderDepth, int initiatorDepth, Role role) {
    this(crc, /* extensions= */ false, responderDepth, initiatorDepth, role);
  }

  /** The two ends of a stream. */
  public enum Role {
    /** Sends posted requests at once. */
    ACTIVE,
    /** Sends an empty WRITE first, so that the peer may send, too (RFC 6581, section 9). */
    ACTIVE_WRITES_FIRST,
    /**
     * Sends nothing before its peer's first FPDU has come (RFC 5044, section 7.1.2). The wait has
     * no time limit; if the stream ends meanwhile, posted requests are flushed.
     */
    PASSIVE
  }
}
