// SPDX-License-Identifier: Apache-2.0
/** Addresses of RNICs. Internal: not exported. */
@NullMarked
package io.verbena.disni.address;

import org.jspecify.annotations.NullMarked;
