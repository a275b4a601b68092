// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.verbena.springboot.grpc;

import org.jspecify.annotations.NullMarked;
