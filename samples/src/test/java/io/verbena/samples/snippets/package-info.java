// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the programs that the documentation quotes. A page shows the lines between the comments
 * {@code snippet: NAME} and {@code end}; {@code DocumentationTest} compares the two.
 */
@NullMarked
package io.verbena.samples.snippets;

import org.jspecify.annotations.NullMarked;
