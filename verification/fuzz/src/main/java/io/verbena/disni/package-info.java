// SPDX-License-Identifier: Apache-2.0
/** Fuzzing of this package's parsers, which only this package sees. */
@NullMarked
package io.verbena.disni;

import org.jspecify.annotations.NullMarked;
