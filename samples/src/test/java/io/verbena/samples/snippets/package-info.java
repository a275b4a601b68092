// SPDX-License-Identifier: Apache-2.0
/**
 * The programs that the documentation shows, run. A page shows what stands between the comments
 * {@code snippet: NAME} and {@code end}; {@code DocumentationTest} compares the two.
 */
@NullMarked
package io.verbena.samples.snippets;

import org.jspecify.annotations.NullMarked;
