// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

/** The first fault found in the bytes with which a stream starts. */
public enum MpaFault {
  /** There is no fault. */
  NONE,
  /** The bytes do not begin with the key of the expected frame. */
  KEY,
  /** The revision is unknown. */
  REVISION,
  /** There is more private data than a frame may have. */
  PRIVATE_LENGTH,
  /** A flag announces words for the depths, but the private data is too short for them. */
  DEPTHS,
  /** The bytes end before the frame does. */
  TOO_SHORT
}
