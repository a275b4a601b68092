// SPDX-License-Identifier: Apache-2.0
/**
 * The parts that all simulated programs share: the scenario, its memory, its trace and its result.
 */
@NullMarked
package io.verbena.simulation.scenario;

import org.jspecify.annotations.NullMarked;
