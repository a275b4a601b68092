// SPDX-License-Identifier: Apache-2.0
/** Tests of the sample of tables over Arrow Flight, over RDMA and over TCP. */
@NullMarked
package io.verbena.samples.flight;

import org.jspecify.annotations.NullMarked;
