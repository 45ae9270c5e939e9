import { QueryError } from '../query-error.ts';
import { membersOf } from '../resolve/member.ts';
import { findPlainColumn } from '../resolve/plain-column.ts';
import type { Column } from '../resolve/resolved.ts';
import type { Scope } from '../resolve/scope.ts';
import { createJoins } from '../sql/joins.ts';
import type { SqlTarget } from '../sql/sql-target.ts';

type PathScope = Pick<Scope, 'collection' | 'schema'>;

/** SQL for an address: the joins after the record's table, and the value, null where there is none. */
interface Address {
  readonly joins: string;
  readonly sql: string;
}

/**
 * Compiles a path from a record to an `email` field, over relations to one record each, to SQL. An account's address counts
 * only once it is verified. Throws QueryError for a path that leads elsewhere.
 */
export function compileAddress(path: string, given: PathScope, into: SqlTarget): Address {
  const scope: Scope = { ...given, audience: 'rule' };
  const column = findPlainColumn(path, 0, scope);
  const end = column.hops.at(-1)?.target ?? scope.collection;
  const name = path.slice(path.lastIndexOf('.') + 1);
  const isAccounts = end.type === 'auth' && name === 'email';
  if (!isAccounts && membersOf(end).get(name)?.field?.type !== 'email')
    throw new QueryError(`${JSON.stringify(path)} is not an email field`, 0);
  const joins = createJoins(into);
  const address = joins.columnSql(column);
  const verified = isAccounts ? joins.columnSql(verifiedOf(path, scope)) : undefined;
  return { joins: joins.sql, sql: verified === undefined ? address : `case when ${verified} then ${address} end` };
}

const verifiedOf = (path: string, scope: Scope): Column =>
  findPlainColumn(`${path.slice(0, path.lastIndexOf('.') + 1)}verified`, 0, scope);
