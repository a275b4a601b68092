// SPDX-License-Identifier: Apache-2.0
/** Tests of the reactive layer and the Netty channels on RNICs of a fake rdma-core. */
@NullMarked
package io.verbena.it.rnics;

import org.jspecify.annotations.NullMarked;
