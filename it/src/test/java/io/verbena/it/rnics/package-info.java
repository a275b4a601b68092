// SPDX-License-Identifier: Apache-2.0
/** The reactive layer and the Netty channels on RNICs, which a fake rdma-core has. */
@NullMarked
package io.verbena.it.rnics;

import org.jspecify.annotations.NullMarked;
