// SPDX-License-Identifier: Apache-2.0
/** What a program is told when device, rights, limits or addresses are not as they should be. */
@NullMarked
package io.verbena.it.badinput;

import org.jspecify.annotations.NullMarked;
