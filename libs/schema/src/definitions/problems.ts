import { validationFailed } from '@recordbus/shared/errors';

/**
 * The problems of a definition by their places: `name`, `list_rule`, `fields.title.type`, `fields.title.options.min`. The
 * place of a field has its name, or its position from 0 without a valid name (fields §1.4).
 */
export interface Problems {
  /** Adds a problem. The first one of a place stays. */
  add(place: string, message: string): void;
  /** Whether there are so many problems that the search stops. */
  isFull(): boolean;
  /** Throws 422 with all problems, if there are any. */
  throwIfAny(): void;
}

const enoughProblems = 1000;
/** A client chooses the names in a place, so the answer shows only the beginning of a long one. */
const maxPlaceLength = 500;

/** Creates an empty list of problems. */
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
