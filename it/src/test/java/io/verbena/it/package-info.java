// SPDX-License-Identifier: Apache-2.0
/** Tests across processes, nodes and kernels. */
@NullMarked
package io.verbena.it;

import org.jspecify.annotations.NullMarked;
