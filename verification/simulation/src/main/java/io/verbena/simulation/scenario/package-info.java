/** What all kinds of runs have in common: how they are made, watched and held against promises. */
@NullMarked
package io.verbena.simulation.scenario;

import org.jspecify.annotations.NullMarked;
