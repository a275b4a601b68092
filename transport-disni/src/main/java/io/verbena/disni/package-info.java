// SPDX-License-Identifier: Apache-2.0
/**
 * Verbs on real HCAs and on Soft-RoCE: DiSNI's native library, and an extension of ours beside it
 * for what DiSNI lacks, as {@code disni://host:port}.
 *
 * <pre>
 *   io.verbena.verbs        Device . ProtectionDomain . QueuePair . CompletionQueue . ConnectionManager
 *                                 |                                 |
 *   this package            Disni (objects, connection steps)   Extension (data path, all else)
 *                                 |                                 |
 *   native                  libdisni.so                         libverbena_disni.so
 *                                 +--------- libibverbs, librdmacm -+
 * </pre>
 */
@NullMarked
package io.verbena.disni;

import org.jspecify.annotations.NullMarked;
