import { validationFailed } from '@recordbus/shared/errors';

/**
 * What is wrong with a definition, each problem under the place where it is: `name`, `list_rule`, `fields.title.type`,
 * `fields.title.options.min`. A field is called by its name, and by its position from 0 when it has none that is valid.
 */
export interface Problems {
  /** Notes a problem; the first one of a place stays. */
  add(place: string, message: string): void;
  /** Throws 422 with every problem, if there is one. */
  throwIfAny(): void;
}

/** Starts an empty collection of problems. */
export function createProblems(): Problems {
  // A Map, since a place may be called like a member that every object inherits.
  const messages = new Map<string, string>();
  return {
    add(place, message) {
      if (!messages.has(place)) messages.set(place, message);
    },
    throwIfAny() {
      if (messages.size > 0) throw validationFailed(Object.fromEntries(messages));
    },
  };
}
