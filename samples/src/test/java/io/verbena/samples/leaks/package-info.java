// SPDX-License-Identifier: Apache-2.0
/** Fails a test class whose buffers were not all released. */
@NullMarked
package io.verbena.samples.leaks;

import org.jspecify.annotations.NullMarked;
