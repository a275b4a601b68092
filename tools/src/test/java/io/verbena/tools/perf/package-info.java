// SPDX-License-Identifier: Apache-2.0
/** Tests of the output and the protocol of bandwidth tests. */
@NullMarked
package io.verbena.tools.perf;

import org.jspecify.annotations.NullMarked;
