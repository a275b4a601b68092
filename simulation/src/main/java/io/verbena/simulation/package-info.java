/**
 * Runs programs over the verbs on emulated HCAs that talk in packets, in virtual time and on a wire
 * with faults; each run is a pure function of its seed. What RC promises is checked in each, and a
 * run that breaks a promise is shrunk to the operations and faults that it takes.
 */
@NullMarked
package io.verbena.simulation;

import org.jspecify.annotations.NullMarked;
