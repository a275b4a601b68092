// SPDX-License-Identifier: Apache-2.0
/** The reactive layer and the Netty channels on devices of iWARP, which a fake rdma-core has. */
@NullMarked
package io.verbena.it.iwarp;

import org.jspecify.annotations.NullMarked;
