// SPDX-License-Identifier: Apache-2.0
/**
 * Verbs on RNICs and Soft-RoCE, as {@code verbs://host:port}: what {@code disni://} does, by the
 * foreign-function interface of JDK 22 and later, on the distribution's libibverbs and librdmacm.
 *
 * <p>All that is not a native call is shared with {@code disni://}: its objects, their locks, and
 * with them the rule that nothing is destroyed while another thread uses it. The classes that call
 * are in the jar's {@code META-INF/versions/22}.
 */
@NullMarked
package io.verbena.foreign;

import org.jspecify.annotations.NullMarked;
