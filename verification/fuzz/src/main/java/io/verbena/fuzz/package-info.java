// SPDX-License-Identifier: Apache-2.0
/**
 * Fuzzing of everything that reads what somebody else wrote. A target is a class with {@code
 * fuzzerTestOneInput}; it throws what a parser must not, or an {@link java.lang.AssertionError}
 * when an answer is wrong.
 */
@NullMarked
package io.verbena.fuzz;

import org.jspecify.annotations.NullMarked;
