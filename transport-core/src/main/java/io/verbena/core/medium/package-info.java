// SPDX-License-Identifier: Apache-2.0
/** The choice of the medium for {@code rdma://} addresses, which leave it to both ends. */
@NullMarked
package io.verbena.core.medium;

import org.jspecify.annotations.NullMarked;
