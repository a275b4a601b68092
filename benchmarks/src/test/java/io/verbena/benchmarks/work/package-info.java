// SPDX-License-Identifier: Apache-2.0
/** Claims about the checks of the data: a participant that cheats is found out. */
@NullMarked
package io.verbena.benchmarks.work;

import org.jspecify.annotations.NullMarked;
