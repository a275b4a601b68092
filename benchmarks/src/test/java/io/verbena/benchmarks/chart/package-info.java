// SPDX-License-Identifier: Apache-2.0
/** Tests of charts: which results they show, and how they are drawn. */
@NullMarked
package io.verbena.benchmarks.chart;

import org.jspecify.annotations.NullMarked;
