// SPDX-License-Identifier: Apache-2.0
/** The direct fabric, in both its modes. */
@NullMarked
package io.verbena.emulated.direct;

import org.jspecify.annotations.NullMarked;
