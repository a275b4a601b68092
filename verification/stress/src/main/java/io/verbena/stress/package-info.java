// SPDX-License-Identifier: Apache-2.0
/** The races of the emulated HCA's queues, keys and wake-ups, by jcstress. */
@NullMarked
package io.verbena.stress;

import org.jspecify.annotations.NullMarked;
