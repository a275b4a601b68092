// SPDX-License-Identifier: Apache-2.0
/**
 * Connections of TCP in virtual time: the sockets of the streams of iWARP, whose bytes are split,
 * held up and cut off as a schedule says.
 */
@NullMarked
package io.verbena.simulation.tcp;

import org.jspecify.annotations.NullMarked;
