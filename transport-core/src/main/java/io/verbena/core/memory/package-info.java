/**
 * Registered memory: an allocator of registered buffers, registrations of memory from elsewhere,
 * and the limit that they share. Knows no Reactor.
 */
@NullMarked
package io.verbena.core.memory;

import org.jspecify.annotations.NullMarked;
