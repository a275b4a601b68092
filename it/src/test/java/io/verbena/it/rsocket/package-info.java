// SPDX-License-Identifier: Apache-2.0
/** RSocket on Linux's own RDMA stack. */
@NullMarked
package io.verbena.it.rsocket;

import org.jspecify.annotations.NullMarked;
