import { urlsOfDatabase } from '@recordbus/process/database-urls';
import { inSpan } from '@recordbus/process/telemetry';
import { throwNoted } from './errors.ts';
import type { Query, Statement } from './statement.ts';

/** Records statements as spans in their requests. */
export interface StatementTracing {
  /** Runs a statement in a span. An error notes the statement. */
  traced<T>(statement: Statement, work: () => Promise<T>): Promise<T>;
  /** The same for every statement that a query function sends. */
  tracing(query: Query): Query;
}

/** Creates one database's tracing, by the conventions for PostgreSQL spans (OpenTelemetry, "SQL"). */
export function createStatementTracing(url: string): StatementTracing {
  const ofDatabase = { 'db.system.name': 'postgresql', ...placeOf(url) };
  const traced = <T>(statement: Statement, work: () => Promise<T>): Promise<T> => {
    const summary = statement.name ?? 'sql';
    return inSpan(
      summary,
      {
        kind: 'CLIENT',
        onlyWithin: true,
        attributes: () => ({ ...ofDatabase, 'db.query.summary': summary, 'db.query.text': statement.text }),
      },
      () => work().catch((error) => throwNoted(error, statement)),
    );
  };
  return { traced, tracing: (query) => (statement) => traced(statement, () => query(statement)) };
}

/** The database, and its server unless several may answer. */
function placeOf(url: string): Record<string, string | number> {
  const [first, ...others] = urlsOfDatabase(url) ?? [url];
  if (first === undefined || !URL.canParse(first)) return {};
  const { hostname, port, pathname } = new URL(first);
  const namespace = { 'db.namespace': decodeURIComponent(pathname.slice(1)) };
  return others.length > 0 || hostname === ''
    ? namespace
    : { ...namespace, 'server.address': hostname, 'server.port': Number(port || 5432) };
}
