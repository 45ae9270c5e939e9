import { CompiledQuery, type Kysely } from 'kysely';
import type { Query } from './statement.ts';
import type { SystemTables } from './tables.ts';

/** Statements on the connection of a Kysely executor: within its transaction, when it is one. */
export const queryOf =
  (executor: Kysely<SystemTables>): Query =>
  async <R>({ text, values }: Parameters<Query>[0]) =>
    (await executor.executeQuery<R>(CompiledQuery.raw(text, [...values]))).rows;
