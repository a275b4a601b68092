// SPDX-License-Identifier: Apache-2.0
/** Loops at their limits and after their end, on the emulated HCA. */
@NullMarked
package io.verbena.core.loop;

import org.jspecify.annotations.NullMarked;
