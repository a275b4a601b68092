// SPDX-License-Identifier: Apache-2.0
/** A table that Arrow Flight serves, over RDMA and over TCP. */
@NullMarked
package io.verbena.samples.flight;

import org.jspecify.annotations.NullMarked;
