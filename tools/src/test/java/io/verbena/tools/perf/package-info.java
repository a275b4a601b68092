// SPDX-License-Identifier: Apache-2.0
/** Tests of what bandwidth tests tell. */
@NullMarked
package io.verbena.tools.perf;

import org.jspecify.annotations.NullMarked;
