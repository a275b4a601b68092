/** Programs over the verbs, and the model that each of their completions is held against. */
@NullMarked
package io.verbena.simulation.verbs;

import org.jspecify.annotations.NullMarked;
