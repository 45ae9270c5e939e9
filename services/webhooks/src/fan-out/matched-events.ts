import type { Query } from '@recordbus/database';
import { isAnyMatched } from './fan-out.ts';

/** Knows whether a batch of events needs the statement that creates deliveries. */
export interface MatchedEvents {
  /** Whether webhooks may want events with these names. */
  mayBeAny(names: Iterable<string>): Promise<boolean>;
  /** Notes whether webhooks wanted some events in the last batch. */
  note(wasAny: boolean): void;
}

/**
 * Creates the object. After a batch that no webhook wanted, it first asks the database about the event names. So the
 * database does not get the texts of events that no webhook wants.
 */
export function createMatchedEvents(query: Query): MatchedEvents {
  let hadSome = true;
  return {
    mayBeAny: async (names) => hadSome || isAnyMatched(query, [...new Set(names)]),
    note(wasAny) {
      hadSome = wasAny;
    },
  };
}
