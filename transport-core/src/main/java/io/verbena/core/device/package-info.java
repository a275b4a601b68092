// SPDX-License-Identifier: Apache-2.0
/** The objects that transports have opened with a device. Does not depend on Reactor. */
@NullMarked
package io.verbena.core.device;

import org.jspecify.annotations.NullMarked;
