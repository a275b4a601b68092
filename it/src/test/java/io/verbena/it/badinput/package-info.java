// SPDX-License-Identifier: Apache-2.0
/** Tests of the errors when a device, its rights, its limits or an address is wrong. */
@NullMarked
package io.verbena.it.badinput;

import org.jspecify.annotations.NullMarked;
