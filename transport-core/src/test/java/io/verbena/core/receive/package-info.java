// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.core.receive;

import org.jspecify.annotations.NullMarked;
