// SPDX-License-Identifier: Apache-2.0
/**
 * The block store: named blocks of bytes in registered memory, served over RDMA, and its twin over
 * TCP. {@code Demo} runs both side by side; {@code BlockStoreServer} and {@code BlockStoreClient}
 * run them as two programs.
 */
@NullMarked
package io.verbena.samples.blockstore;

import org.jspecify.annotations.NullMarked;
