// SPDX-License-Identifier: Apache-2.0
/**
 * The guards that every part of a connection has: admission of operations, and handling of what
 * foreign code throws.
 */
@NullMarked
package io.verbena.reactor.guard;

import org.jspecify.annotations.NullMarked;
