// SPDX-License-Identifier: Apache-2.0
/** Addresses of emulated HCAs, and their options. Internal: not exported. */
@NullMarked
package io.verbena.emulated.address;

import org.jspecify.annotations.NullMarked;
