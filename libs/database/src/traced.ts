import { inSpan } from '@recordbus/shared/telemetry';
import { throwNoted } from './errors.ts';
import type { Query, Statement } from './statement.ts';

/** Runs a statement in a span of its request. An error notes the statement. */
export const traced = <T>(statement: Statement, work: () => Promise<T>): Promise<T> =>
  inSpan(
    statement.name ?? 'sql',
    {
      kind: 'CLIENT',
      onlyWithin: true,
      attributes: { 'db.system.name': 'postgresql', 'db.query.text': statement.text },
    },
    () => work().catch((error) => throwNoted(error, statement)),
  );

/** The same for every statement of a query function. */
export const tracing =
  (query: Query): Query =>
  (statement) =>
    traced(statement, () => query(statement));
