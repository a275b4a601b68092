// SPDX-License-Identifier: Apache-2.0
/** Tests of loops at their limits and after their end, on the emulated HCA. */
@NullMarked
package io.verbena.core.loop;

import org.jspecify.annotations.NullMarked;
