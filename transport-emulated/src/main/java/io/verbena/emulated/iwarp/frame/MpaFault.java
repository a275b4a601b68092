// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

/** What is wrong with the bytes with which a stream starts; the first thing found. */
public enum MpaFault {
  /** Nothing. */
  NONE,
  /** They do not begin as the frame that is due. */
  KEY,
  /** A revision that is not known. */
  REVISION,
  /** More private data than a frame may have. */
  PRIVATE_LENGTH,
  /** The flag says that there are words for the depths, and there is no room for them. */
  DEPTHS,
  /** They end before the frame does. */
  TOO_SHORT
}
