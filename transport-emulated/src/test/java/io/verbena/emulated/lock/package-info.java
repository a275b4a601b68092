// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.emulated.lock;

import org.jspecify.annotations.NullMarked;
