/**
 * Runs programs on emulated HCAs that talk in packets, in virtual time and on a wire with faults;
 * each run is a pure function of its seed. What is promised to programs is checked in each, and a
 * run that breaks a promise is shrunk to the steps and faults that it takes.
 */
@NullMarked
package io.verbena.simulation;

import org.jspecify.annotations.NullMarked;
