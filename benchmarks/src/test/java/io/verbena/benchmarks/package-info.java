// SPDX-License-Identifier: Apache-2.0
/** Tests of the runner: how it compares, and how it reads the results of a case. */
@NullMarked
package io.verbena.benchmarks;

import org.jspecify.annotations.NullMarked;
