// SPDX-License-Identifier: Apache-2.0
/**
 * Connection managers of iWARP devices. Each connection is a TCP connection to the port of the
 * address; MPA frames carry {@code rdma_cm}'s private data unchanged. Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.cm.iwarp;

import org.jspecify.annotations.NullMarked;
