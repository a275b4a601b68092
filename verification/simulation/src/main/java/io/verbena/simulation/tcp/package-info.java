// SPDX-License-Identifier: Apache-2.0
/**
 * TCP connections in virtual time: sockets for iWARP streams, which split, delay and cut off the
 * bytes according to a fault schedule.
 */
@NullMarked
package io.verbena.simulation.tcp;

import org.jspecify.annotations.NullMarked;
