/** What providers of verbs share; programs have no use for it. */
@NullMarked
package io.verbena.verbs.provider;

import org.jspecify.annotations.NullMarked;
