/**
 * The reactive layer's whole protocol (credits, rendezvous, one-sided operations, close) without
 * threads: two ends of a connection do what a script says, in turns and in virtual time.
 */
@NullMarked
package io.verbena.simulation.reactive;

import org.jspecify.annotations.NullMarked;
