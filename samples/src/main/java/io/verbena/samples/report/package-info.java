// SPDX-License-Identifier: Apache-2.0
/** Prints the progress, the checks and the figures of the samples. */
@NullMarked
package io.verbena.samples.report;

import org.jspecify.annotations.NullMarked;
