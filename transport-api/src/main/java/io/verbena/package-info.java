// SPDX-License-Identifier: Apache-2.0
/**
 * The reactive transport SPI: what programs and frameworks use. Connect and bind return a {@code
 * Mono}, messages are {@code Flux}es of Netty buffers, one-sided operations are {@code Mono}s. The
 * URI's scheme chooses the HCA; nothing else in a program does.
 */
@NullMarked
package io.verbena;

import org.jspecify.annotations.NullMarked;
