// SPDX-License-Identifier: Apache-2.0
/**
 * The sanitizer: decorators over the verbs SPI that tell a program what hardware never does, with
 * the place in the program where it began.
 *
 * <p>It stands on the interfaces of {@code io.verbena.verbs} alone, so that it takes any provider's
 * device. A device that is not wrapped has nothing of it on its path. A wrapped one answers as the
 * bare one does, except where the verbs leave the answer open: what the buffer of a posted receive,
 * READ or atomic holds before its completion was polled.
 *
 * <p>It keeps its books by ids of its own: a work request goes to the device as a copy with a token
 * for its id, and the completion comes back with the program's id again.
 */
@NullMarked
package io.verbena.emulated.sanitizer;

import org.jspecify.annotations.NullMarked;
