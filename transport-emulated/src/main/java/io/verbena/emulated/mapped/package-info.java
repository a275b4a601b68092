// SPDX-License-Identifier: Apache-2.0
/**
 * Registered memory that peers on the same host map: where it lies, references to it in place of
 * payload, and grants to read it without a packet. Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.mapped;

import org.jspecify.annotations.NullMarked;
