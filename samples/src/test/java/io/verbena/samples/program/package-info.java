// SPDX-License-Identifier: Apache-2.0
/** Tests of the samples as programs. */
@NullMarked
package io.verbena.samples.program;

import org.jspecify.annotations.NullMarked;
