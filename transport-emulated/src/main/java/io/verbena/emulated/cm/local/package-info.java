// SPDX-License-Identifier: Apache-2.0
/**
 * Connection managers that reach each other by name within a JVM, on any fabric. Internal: not
 * exported.
 */
@NullMarked
package io.verbena.emulated.cm.local;

import org.jspecify.annotations.NullMarked;
