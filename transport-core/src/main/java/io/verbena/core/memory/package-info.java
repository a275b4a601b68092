// SPDX-License-Identifier: Apache-2.0
/**
 * Registered memory: an allocator of registered buffers, registrations of foreign memory, and the
 * limit that they share. Does not depend on Reactor.
 */
@NullMarked
package io.verbena.core.memory;

import org.jspecify.annotations.NullMarked;
