// SPDX-License-Identifier: Apache-2.0
/** Tests of the addresses of emulated HCAs and the devices that they open. */
@NullMarked
package io.verbena.emulated.address;

import org.jspecify.annotations.NullMarked;
