// SPDX-License-Identifier: Apache-2.0
/**
 * Deterministic simulation testing. Runs generated programs on emulated HCAs in virtual time, over
 * a simulated wire that injects faults. Each run is a pure function of its seed. A model checks
 * every result, and a run that violates the model is shrunk to the steps and faults that cause the
 * violation.
 */
@NullMarked
package io.verbena.simulation;

import org.jspecify.annotations.NullMarked;
