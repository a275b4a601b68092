// SPDX-License-Identifier: Apache-2.0
/** Tests of the output of {@code verbena stat}. */
@NullMarked
package io.verbena.tools.stat;

import org.jspecify.annotations.NullMarked;
