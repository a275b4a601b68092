// SPDX-License-Identifier: Apache-2.0
/**
 * Verbs on RNICs and Soft-RoCE, as {@code verbs://host:port}: the provider of {@code disni://} with
 * the foreign function interface of JDK 22 and later in place of DiSNI, on the distribution's
 * libibverbs and librdmacm.
 *
 * <p>Everything but the native calls is shared with {@code disni://}: the objects, their locks, and
 * so the guarantee that no object is destroyed while another thread uses it. The classes that make
 * native calls are in the jar's {@code META-INF/versions/22}.
 */
@NullMarked
package io.verbena.foreign;

import org.jspecify.annotations.NullMarked;
