// SPDX-License-Identifier: Apache-2.0
/** Tests of the data checks, which detect a participant that cheats. */
@NullMarked
package io.verbena.benchmarks.work;

import org.jspecify.annotations.NullMarked;
