// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.program;

/**
 * A measured value.
 *
 * @param what its meaning, with its unit
 * @param value the value
 */
public record Figure(String what, double value) {}
