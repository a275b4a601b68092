// SPDX-License-Identifier: Apache-2.0
/** An opened device with the objects that transports need of it. Does not depend on Reactor. */
@NullMarked
package io.verbena.core.device;

import org.jspecify.annotations.NullMarked;
