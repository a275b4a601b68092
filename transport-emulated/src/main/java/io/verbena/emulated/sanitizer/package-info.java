// SPDX-License-Identifier: Apache-2.0
/**
 * The sanitizer: decorators over the verbs SPI that report mistakes which hardware never reports,
 * with the place in the program where they began.
 *
 * <p>It uses only the interfaces of {@code io.verbena.verbs}, so that it takes any provider's
 * device. A device that is not wrapped has none of it on its path. A wrapped one behaves like the
 * bare one, except where the verbs leave the behavior open: the content of the buffer of a posted
 * receive, READ or atomic before its completion was polled.
 *
 * <p>It identifies requests by ids of its own: a work request goes to the device as a copy with a
 * token as its id, and the completion comes back with the program's id again.
 */
@NullMarked
package io.verbena.emulated.sanitizer;

import org.jspecify.annotations.NullMarked;
