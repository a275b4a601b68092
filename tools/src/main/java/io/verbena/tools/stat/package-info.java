// SPDX-License-Identifier: Apache-2.0
/** Prints the counters of devices and the queue pairs of running programs. */
@NullMarked
package io.verbena.tools.stat;

import org.jspecify.annotations.NullMarked;
