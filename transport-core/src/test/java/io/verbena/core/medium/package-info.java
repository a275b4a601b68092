// SPDX-License-Identifier: Apache-2.0
/** Tests of the choice of a medium. */
@NullMarked
package io.verbena.core.medium;

import org.jspecify.annotations.NullMarked;
