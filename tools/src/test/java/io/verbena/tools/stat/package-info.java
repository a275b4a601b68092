// SPDX-License-Identifier: Apache-2.0
/** The outputs of {@code verbena stat}. */
@NullMarked
package io.verbena.tools.stat;

import org.jspecify.annotations.NullMarked;
