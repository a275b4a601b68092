// SPDX-License-Identifier: Apache-2.0
/** Fuzzing of this package's parsers. */
@NullMarked
package io.verbena.netty;

import org.jspecify.annotations.NullMarked;
