// SPDX-License-Identifier: Apache-2.0
/**
 * Messages over plain Netty TCP, with an API like the reactive transport's: the samples are
 * compared with it. It does not depend on the block store.
 */
@NullMarked
package io.verbena.samples.tcp;

import org.jspecify.annotations.NullMarked;
