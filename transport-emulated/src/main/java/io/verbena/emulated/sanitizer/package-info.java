// SPDX-License-Identifier: Apache-2.0
/**
 * The sanitizer: decorators over the verbs SPI that report mistakes of a program which hardware
 * never reports. Each report names the place in the program where the mistake began.
 *
 * <p>The sanitizer uses only the interfaces of {@code io.verbena.verbs}, so it can wrap the device
 * of any provider. A device that is not wrapped runs no code of the sanitizer. A wrapped device
 * behaves like the bare one, except where the verbs leave the behavior open: in the content of the
 * buffer of a posted receive, READ or atomic before its completion was polled.
 *
 * <p>The device receives a copy of each work request, with a token of the sanitizer as its id. The
 * completion that the program polls has the program's id again.
 */
@NullMarked
package io.verbena.emulated.sanitizer;

import org.jspecify.annotations.NullMarked;
