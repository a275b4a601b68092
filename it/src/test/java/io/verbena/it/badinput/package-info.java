// SPDX-License-Identifier: Apache-2.0
/** Tests of the errors when device, rights, limits or addresses are not as they should be. */
@NullMarked
package io.verbena.it.badinput;

import org.jspecify.annotations.NullMarked;
