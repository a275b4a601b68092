// SPDX-License-Identifier: Apache-2.0
/** Tests of the samples' reports. */
@NullMarked
package io.verbena.samples.report;

import org.jspecify.annotations.NullMarked;
