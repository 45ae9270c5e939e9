import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { ErasureCounts, ErasureOptions } from './erasure.ts';

/** Erased records of one collection. */
export interface ErasedPart {
  readonly jobId: string;
  readonly collectionId: string;
  /** Undefined for a collection that was dropped. */
  readonly collection: Collection | undefined;
  /** At most 2,000. */
  readonly ids: readonly string[];
  /** Those that no other collection's record has: an id without a collection means the erased record. */
  readonly ownIds: readonly string[];
  /** Those of them that texts are searched for. A shorter id may be any word, and clients choose theirs. */
  readonly tellingIds: readonly string[];
  readonly history: ErasureOptions['history'];
  /**
   * The erased accounts' addresses, in lower case, but for those that another account has. Without an admin's request, only
   * those that the accounts had proved.
   */
  readonly emails: readonly string[];
  /** Returns the keyed hash that takes the place of a record's id. */
  hashOf(recordId: string): string;
  /** Empties the answers that are kept for idempotency keys and name one of the ids. */
  eraseAnswers(query: Query, ids: readonly string[]): Promise<void>;
  /** Deletes the mails that came in from the erased accounts. Returns how many there were. */
  eraseMails(query: Query): Promise<number>;
}

/** A place where a record's data may be, beside its table. */
export interface Place {
  /** The step's name. It is stored, so it stays. */
  readonly name: string;
  /** Whether only accounts have data there. */
  readonly isOfAccounts?: true;
  /** Removes a part's data in the transaction, at most a few thousand rows. Repeated until nothing is `left`. */
  clean(query: Query, part: ErasedPart): Promise<Cleaned>;
}

/** What one statement of a place has done. */
export interface Cleaned {
  readonly counts?: Partial<ErasureCounts>;
  readonly isLeft?: boolean;
  /** The exports whose archives go in the background: the erasure waits for them. */
  readonly archives?: readonly string[];
}

/** How many rows one statement cleans. */
export const cleanedAtOnce = 2000;

/** How many characters an id has at least that no text has by chance. PocketBase's ids have them. */
export const tellingLength = 15;

/** SQL: when the record (SQL) was erased by the part's job; `$1` is the job, and `$2` the collection's id. */
export const erasedAt = (recordId: string): string => `(select x.erased_at from system.erased_records x
          where x.job_id = $1 and x.collection_id = $2 and x.record_id = ${recordId})`;

/** SQL: whether a JSON text names one of the ids (SQL, an array) as a whole string. */
export const namesOneOf = (text: string, ids: string): string =>
  `exists (select from regexp_matches(${text}, '"([A-Za-z0-9_-]{1,64})"', 'g') as named where named[1] = any(${ids}))`;
