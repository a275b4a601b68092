// SPDX-License-Identifier: Apache-2.0
/**
 * Messages over plain Netty TCP, in the shape of the reactive transport: what the samples are
 * compared with. It knows nothing of block stores.
 */
@NullMarked
package io.verbena.samples.tcp;

import org.jspecify.annotations.NullMarked;
