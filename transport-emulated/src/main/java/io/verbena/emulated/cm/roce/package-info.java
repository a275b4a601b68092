// SPDX-License-Identifier: Apache-2.0
/**
 * Connection managers on UDP sockets or shared memory: the verbs' view of the protocol of {@link
 * io.verbena.emulated.cm.protocol}, and queue pair 1, through which its messages pass. Internal:
 * not exported.
 */
@NullMarked
package io.verbena.emulated.cm.roce;

import org.jspecify.annotations.NullMarked;
