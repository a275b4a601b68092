// SPDX-License-Identifier: Apache-2.0
/** jcstress tests of races of the emulated HCA's queues, keys and wake-ups. */
@NullMarked
package io.verbena.stress;

import org.jspecify.annotations.NullMarked;
