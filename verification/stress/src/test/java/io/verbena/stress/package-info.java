// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.stress;

import org.jspecify.annotations.NullMarked;
