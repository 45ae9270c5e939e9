import {
  answerTooLarge,
  type Database,
  isDatabaseError,
  type Query,
  type ReplicaRead,
  type SnapshotWork,
  type Statement,
  sqlState,
} from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import type { Settings } from '@recordbus/settings';

/** Reads records for clients, within limits on connections, time and size (cost §1, §2). */
export interface RecordReads {
  /** A get without expansions. */
  readonly get: Query;
  /** A collection's first page that its client did not shape. `maxBytes` is how many bytes the answer may have. */
  page<R>(collection: string, statementFor: (maxBytes: number) => Statement): Promise<R[]>;
  /** A shaped read. */
  readonly shaped: Query;
  /** Returns shaped reads that together have one read's time. */
  together(): Query;
  /** A shaped read with several statements that see one snapshot. */
  snapshot<T>(work: SnapshotWork<T>): Promise<T>;
  /** A read for live subscriptions. */
  readonly live: Query;
  /** How many bytes an answer may have. */
  maxAnswerBytes(): number;
  /** Whether they read only committed data, so that their totals are valid for later reads. */
  readonly isCommitted: boolean;
  /** Returns the same reads, which read replicas may serve. */
  from(read: ReplicaRead): RecordReads;
}

/** Larger pages are read as shaped reads, where they do not delay small ones. */
const maxPageBytes = 2 ** 20;

/** How long a collection's pages are read as shaped reads after one was larger, in milliseconds. */
const largePagesMs = 60_000;
const maxLargePages = 1000;

/** Creates a service's reads. Each read takes the current settings `records.*`. */
export function createRecordReads(
  { reads, readReplicas }: Pick<Database, 'reads' | 'readReplicas'>,
  settings: Pick<Settings, 'get'>,
): RecordReads {
  const timeoutMs = () => settings.get('records.read_timeout_ms');
  const maxAnswerBytes = () => settings.get('records.max_answer_bytes');
  const largePages = createLargePages();
  const shaped: Query = (statement) => reads.shaped<never>(statement, timeoutMs()).catch(explainCost);
  const own: RecordReads = {
    get: (statement) => reads.get<never>(statement, timeoutMs()).catch(explainCost),
    async page<R>(collection: string, statementFor: (maxBytes: number) => Statement) {
      const maxBytes = maxAnswerBytes();
      if (largePages.has(collection)) return shaped<R>(statementFor(maxBytes));
      try {
        return await reads.page<R>(statementFor(Math.min(maxBytes, maxPageBytes)), timeoutMs());
      } catch (error) {
        if (!isDatabaseError(error, sqlState.answerTooLarge)) return explainCost(error);
        largePages.add(collection);
        return shaped<R>(statementFor(maxBytes));
      }
    },
    shaped,
    together() {
      const query = reads.together(timeoutMs());
      return (statement) => query<never>(statement).catch(explainCost);
    },
    snapshot: (work) => reads.shapedTransaction(work, timeoutMs()).catch(explainCost),
    live: (statement) => reads.live<never>(statement, timeoutMs()).catch(explainCost),
    maxAnswerBytes,
    isCommitted: true,
    from: (fromReplica) => (readReplicas ? onReplicas(own, fromReplica) : own),
  };
  return own;
}

/** Marks the reads that read replicas may serve. */
function onReplicas(reads: RecordReads, fromReplica: ReplicaRead): RecordReads {
  const marked = (statement: Statement): Statement => ({ ...statement, fromReplica });
  return {
    ...reads,
    get: (statement) => reads.get(marked(statement)),
    page: (collection, statementFor) => reads.page(collection, (maxBytes) => marked(statementFor(maxBytes))),
    shaped: (statement) => reads.shaped(marked(statement)),
    together() {
      const query = reads.together();
      return (statement) => query(marked(statement));
    },
  };
}

/** Creates reads within a write's transaction. */
export function readsWithin(query: Query, { maxAnswerBytes }: Pick<RecordReads, 'maxAnswerBytes'>): RecordReads {
  const own: RecordReads = {
    get: query,
    page: (_collection, statementFor) => query(statementFor(maxAnswerBytes())),
    shaped: query,
    together: () => query,
    snapshot: (work) => work(query, query),
    live: query,
    maxAnswerBytes,
    isCommitted: false,
    from: () => own,
  };
  return own;
}

/** Remembers for a while which collections had a large first page. */
function createLargePages() {
  const untilMs = new Map<string, number>();
  return {
    has: (collection: string): boolean =>
      untilMs.size > 0 && (untilMs.get(collection) ?? Number.NEGATIVE_INFINITY) > performance.now(),
    add(collection: string): void {
      if (untilMs.size >= maxLargePages) untilMs.clear();
      untilMs.set(collection, performance.now() + largePagesMs);
    },
  };
}

/** Throws 422 for a read that exceeded its time or size (cost §1.4, §2.1), and any other error as it is. */
export function explainCost(error: unknown): never {
  if (isDatabaseError(error, sqlState.queryCanceled))
    throw new AppError(422, 'too_expensive', 'the read takes too long: narrow it, or add an index that serves it', {
      cause: error,
    });
  if (isDatabaseError(error, sqlState.answerTooLarge) || isBeyondMemory(error)) throw answerTooLarge(error);
  throw error;
}

/** PostgreSQL has no values larger than 1 GiB. */
const isBeyondMemory = (error: unknown): boolean =>
  isDatabaseError(error, sqlState.programLimitExceeded, sqlState.outOfMemory) ||
  (isDatabaseError(error) && /^(invalid memory alloc request size|array size exceeds)/.test(error.message));
