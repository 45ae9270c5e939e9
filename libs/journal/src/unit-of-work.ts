import type { Query } from '@recordbus/database';

/**
 * A unit of work that writes: it commits as a whole or not at all. `Work` names the after-commit work that it may cause.
 */
export interface UnitOfWork<Work extends string> {
  /** Runs a statement in the unit. */
  readonly query: Query;
  /** The after-commit work. Each step adds the work that it causes. It runs once, and never after a rollback. */
  readonly due: Set<Work>;
}

/** Starts each kind of after-commit work. Answers never wait for it. */
export type AfterCommit<Work extends string> = Readonly<Record<Work, () => void>>;

/** Runs an attempt and commits it: a transaction, which may begin the attempt again, or a statement in autocommit. */
type Commit = <T>(attempt: (query: Query) => Promise<T>) => Promise<T>;

/** Runs a unit's work and commits it, then starts the due after-commit work, each kind once. */
export async function runUnit<Work extends string, T>(
  commit: Commit,
  afterCommit: AfterCommit<Work>,
  work: (unit: UnitOfWork<Work>) => Promise<T>,
): Promise<T> {
  const { result, due } = await commit(async (query) => {
    // Each attempt has its own list.
    const unit: UnitOfWork<Work> = { query, due: new Set() };
    return { result: await work(unit), due: unit.due };
  });
  for (const name of due) afterCommit[name]();
  return result;
}
