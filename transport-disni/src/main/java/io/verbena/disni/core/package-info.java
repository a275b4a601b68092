// SPDX-License-Identifier: Apache-2.0
/**
 * The calls of rdma-core, which {@code disni://} makes by JNI and {@code verbs://} by the foreign
 * function interface. Internal: exported only to the module of {@code verbs://}.
 */
@NullMarked
package io.verbena.disni.core;

import org.jspecify.annotations.NullMarked;
