// SPDX-License-Identifier: Apache-2.0
/** Datagrams between queue pairs that the connection manager finds, with udaddy's own protocol. */
@NullMarked
package io.verbena.tools.datagrams;

import org.jspecify.annotations.NullMarked;
