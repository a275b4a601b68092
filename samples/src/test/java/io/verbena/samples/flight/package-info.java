// SPDX-License-Identifier: Apache-2.0
/** Tests of what the sample of tables over Arrow Flight promises, over RDMA and over TCP. */
@NullMarked
package io.verbena.samples.flight;

import org.jspecify.annotations.NullMarked;
