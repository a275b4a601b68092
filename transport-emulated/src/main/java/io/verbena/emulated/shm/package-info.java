// SPDX-License-Identifier: Apache-2.0
/**
 * Shared memory as a wire between processes of one machine: the folder where they find each other,
 * and the rings that carry their packets.
 */
@NullMarked
package io.verbena.emulated.shm;

import org.jspecify.annotations.NullMarked;
