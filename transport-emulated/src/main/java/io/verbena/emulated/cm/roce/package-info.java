// SPDX-License-Identifier: Apache-2.0
/**
 * Connection managers on UDP sockets or shared memory: they map the verbs to the protocol of {@link
 * io.verbena.emulated.cm.protocol}, whose messages pass through queue pair 1. Internal: not
 * exported.
 */
@NullMarked
package io.verbena.emulated.cm.roce;

import org.jspecify.annotations.NullMarked;
