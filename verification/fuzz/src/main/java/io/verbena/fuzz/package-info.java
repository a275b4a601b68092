// SPDX-License-Identifier: Apache-2.0
/**
 * Fuzz targets for all parsers of external input. A target is a class with {@code
 * fuzzerTestOneInput}. It throws an exception that the parser must not throw, or an {@link
 * java.lang.AssertionError} if a result is wrong.
 */
@NullMarked
package io.verbena.fuzz;

import org.jspecify.annotations.NullMarked;
