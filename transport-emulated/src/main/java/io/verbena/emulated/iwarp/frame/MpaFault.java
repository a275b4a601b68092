// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

/** The first fault found in the bytes with which a stream starts. */
public enum MpaFault {
  /** There is no fault. */
  NONE,
  /** They do not begin like the expected frame. */
  KEY,
  /** The revision is unknown. */
  REVISION,
  /** There is more private data than a frame may have. */
  PRIVATE_LENGTH,
  /** The flag announces words for the depths, but there is no room for them. */
  DEPTHS,
  /** They end before the frame does. */
  TOO_SHORT
}
