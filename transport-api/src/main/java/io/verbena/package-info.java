// SPDX-License-Identifier: Apache-2.0
/**
 * The reactive transport SPI, for programs and frameworks. Connect and bind return a {@code Mono},
 * messages are {@code Flux}es of Netty buffers, one-sided operations are {@code Mono}s. Only the
 * URI's scheme chooses the HCA.
 */
@NullMarked
package io.verbena;

import org.jspecify.annotations.NullMarked;
