// SPDX-License-Identifier: Apache-2.0
/** What the documentation claims, as tests. */
@NullMarked
package io.verbena.samples;

import org.jspecify.annotations.NullMarked;
