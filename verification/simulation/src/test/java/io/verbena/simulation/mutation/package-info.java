// SPDX-License-Identifier: Apache-2.0
/**
 * Mutation tests of the simulation: makes each of a list of mistakes in a copy of a source file,
 * compiles the copy in memory and runs it in place of the original.
 */
@NullMarked
package io.verbena.simulation.mutation;

import org.jspecify.annotations.NullMarked;
