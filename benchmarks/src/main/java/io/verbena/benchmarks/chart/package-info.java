// SPDX-License-Identifier: Apache-2.0
/**
 * Draws the results of a run as charts: a bar for each participant, an SVG file for each question.
 */
@NullMarked
package io.verbena.benchmarks.chart;

import org.jspecify.annotations.NullMarked;
