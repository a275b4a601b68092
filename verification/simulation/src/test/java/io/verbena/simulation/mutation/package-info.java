/**
 * Whether the simulation would see a mistake: each is made in a copy of the sources, which is
 * compiled in memory and run in place of the product's.
 */
@NullMarked
package io.verbena.simulation.mutation;

import org.jspecify.annotations.NullMarked;
