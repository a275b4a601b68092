// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

/**
 * A notice of a WRITE, which the peer gets in a frame behind the WRITE; it waits for that frame to
 * arrive.
 */
public interface WriteNotice extends FrameWaiter {

  /** Returns the value for the peer. */
  int immediate();

  /** Returns the number of bytes that were written. */
  int noticeLength();
}
