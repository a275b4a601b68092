// SPDX-License-Identifier: Apache-2.0
/**
 * Verbs on real HCAs and on Soft-RoCE, as {@code disni://host:port}. The calls go to DiSNI's native
 * library and, where DiSNI lacks a call, to a second native library of Verbena.
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
