import { validationFailed } from '@recordbus/errors';

/**
 * A definition's problems by place: `name`, `list_rule`, `fields.title.type`, `fields.title.options.min`. A field's
 * place has its name, or its position from 0 without a valid name (fields §1.4).
 */
export interface Problems {
  /** Adds a problem. A place's first one stays. */
  add(place: string, message: string): void;
  /** Whether there are so many problems that the search stops. */
  isFull(): boolean;
  /** Throws 422 with all problems, if there are any. */
  throwIfAny(): void;
}

const enoughProblems = 1000;
/** A client chooses the names in a place, so the answer shows only a long one's beginning. */
const maxPlaceLength = 500;

/** Creates an empty problem list. */
export function createProblems(): Problems {
  // A Map, since a place may have the name of a member that every object inherits.
  const messages = new Map<string, string>();
  return {
    add(place, message) {
      const shown = place.length > maxPlaceLength ? `${place.slice(0, maxPlaceLength)}…` : place;
      if (!messages.has(shown)) messages.set(shown, message);
    },
    isFull: () => messages.size >= enoughProblems,
    throwIfAny() {
      if (messages.size > 0) throw validationFailed(Object.fromEntries(messages));
    },
  };
}
