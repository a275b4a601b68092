// SPDX-License-Identifier: Apache-2.0
/** Fails the build if a test drops a buffer without releasing it. */
@NullMarked
package io.verbena.core.leaks;

import org.jspecify.annotations.NullMarked;
