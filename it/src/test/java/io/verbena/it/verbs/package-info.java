// SPDX-License-Identifier: Apache-2.0
/**
 * The TCK on the kernel's RDMA stack, and what that stack answers beside what the emulated HCA
 * answers.
 */
@NullMarked
package io.verbena.it.verbs;

import org.jspecify.annotations.NullMarked;
