// SPDX-License-Identifier: Apache-2.0
/** Tests of what the samples show of themselves. */
@NullMarked
package io.verbena.samples.report;

import org.jspecify.annotations.NullMarked;
