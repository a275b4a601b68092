// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

/** A value that the peer gets in a frame behind a WRITE, and that waits for the frame to arrive. */
public interface Notice extends FrameWaiter {

  /** The value for the peer. */
  int immediate();

  /** The bytes that were written. */
  int noticeLength();
}
