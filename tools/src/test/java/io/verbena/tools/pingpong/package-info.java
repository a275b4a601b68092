/** Tests of messages that go wrong. */
@NullMarked
package io.verbena.tools.pingpong;

import org.jspecify.annotations.NullMarked;
