// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.emulated.shm;

import org.jspecify.annotations.NullMarked;
