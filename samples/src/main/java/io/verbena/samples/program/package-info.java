// SPDX-License-Identifier: Apache-2.0
/**
 * What the samples' programs have in common: their command line, their two ends, and their
 * addresses.
 */
@NullMarked
package io.verbena.samples.program;

import org.jspecify.annotations.NullMarked;
