// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

/** What is wrong with the bytes of a management datagram; the first thing found. */
public enum MadFault {
  /** Nothing. */
  NONE,
  /** Not {@link Mad#LENGTH} bytes. */
  LENGTH,
  /** Another version of the common header than 1. */
  BASE_VERSION,
  /** Another management class than communication management. */
  CLASS,
  /** Another version of the class than 2. */
  CLASS_VERSION,
  /** Another method than Send. */
  METHOD,
  /** No message that is known here: alternate paths are not. */
  ATTRIBUTE
}
