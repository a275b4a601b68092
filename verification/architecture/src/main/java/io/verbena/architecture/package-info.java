// SPDX-License-Identifier: Apache-2.0
/** Tests of what holds in every module: its floor, and the rules of the house. */
@NullMarked
package io.verbena.architecture;

import org.jspecify.annotations.NullMarked;
