/** Claims about reads, writes, immediates and atomics. */
@NullMarked
package io.verbena.reactor.onesided;

import org.jspecify.annotations.NullMarked;
