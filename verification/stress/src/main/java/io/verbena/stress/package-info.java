/** The races of the emulated HCA's queues, keys and wake-ups, by jcstress. */
@NullMarked
package io.verbena.stress;

import org.jspecify.annotations.NullMarked;
