// SPDX-License-Identifier: Apache-2.0
/** Claims about the runner: how it compares, and what it reads back from a case. */
@NullMarked
package io.verbena.benchmarks;

import org.jspecify.annotations.NullMarked;
