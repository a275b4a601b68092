// SPDX-License-Identifier: Apache-2.0
/** The short run: inputs kept from long ones, and some thousands made of them. */
@NullMarked
package io.verbena.fuzz;

import org.jspecify.annotations.NullMarked;
