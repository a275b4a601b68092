// SPDX-License-Identifier: Apache-2.0
/**
 * The common parts of the samples' programs: their command line, their two ends, and their
 * addresses.
 */
@NullMarked
package io.verbena.samples.program;

import org.jspecify.annotations.NullMarked;
