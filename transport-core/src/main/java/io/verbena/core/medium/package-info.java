// SPDX-License-Identifier: Apache-2.0
/** The media that lead to an address that leaves the choice to both ends. */
@NullMarked
package io.verbena.core.medium;

import org.jspecify.annotations.NullMarked;
