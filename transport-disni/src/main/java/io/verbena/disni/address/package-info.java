// SPDX-License-Identifier: Apache-2.0
/** Parses {@code disni://} addresses. Internal: not exported. */
@NullMarked
package io.verbena.disni.address;

import org.jspecify.annotations.NullMarked;
