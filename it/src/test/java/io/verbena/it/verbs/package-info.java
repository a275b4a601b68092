// SPDX-License-Identifier: Apache-2.0
/**
 * The TCK on the kernel's RDMA stack, and a comparison of its answers with those of the emulated
 * HCA.
 */
@NullMarked
package io.verbena.it.verbs;

import org.jspecify.annotations.NullMarked;
