// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.core.stat;

import org.jspecify.annotations.NullMarked;
