// SPDX-License-Identifier: Apache-2.0
/**
 * Simulates the whole protocol of the reactive layer (credits, rendezvous, one-sided operations,
 * close) without threads: two ends of a connection execute the steps of a scenario, one at a time
 * and in virtual time.
 */
@NullMarked
package io.verbena.simulation.reactive;

import org.jspecify.annotations.NullMarked;
