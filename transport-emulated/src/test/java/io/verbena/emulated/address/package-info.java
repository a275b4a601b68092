// SPDX-License-Identifier: Apache-2.0
/** Addresses of emulated HCAs, and what they open. */
@NullMarked
package io.verbena.emulated.address;

import org.jspecify.annotations.NullMarked;
