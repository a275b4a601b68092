// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

/** The first fault found in the bytes of a management datagram. */
public enum MadFault {
  /** There is no fault. */
  NONE,
  /** The length is not {@link Mad#LENGTH}. */
  LENGTH,
  /** The version of the common header is not 1. */
  BASE_VERSION,
  /** The management class is not communication management. */
  CLASS,
  /** The version of the class is not 2. */
  CLASS_VERSION,
  /** The method is not Send. */
  METHOD,
  /** The message is unknown, or is one for alternate paths, which are not supported. */
  ATTRIBUTE
}
