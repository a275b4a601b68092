// SPDX-License-Identifier: Apache-2.0
/**
 * What every part of a connection is handed: who may start an operation, and what becomes of what
 * foreign code throws.
 */
@NullMarked
package io.verbena.reactor.guard;

import org.jspecify.annotations.NullMarked;
