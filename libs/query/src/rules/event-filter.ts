import type { Collection } from '@recordbus/schema';
import { changedNames, type Expression } from '../language/ast.ts';
import { testsIn } from '../language/operands.ts';
import { parse } from '../language/parser.ts';
import { UnknownName } from '../query-error.ts';
import { eventScope } from '../resolve/event-scope.ts';
import { isHidden, membersOf } from '../resolve/member.ts';
import { resolve } from '../resolve/resolve.ts';
import type { Resolved } from '../resolve/resolved.ts';
import type { QuerySchema } from '../resolve/scope.ts';
import { compile } from '../sql/compile.ts';
import type { Parameters } from '../sql/parameters.ts';
import { withCollation } from '../sql/sql-target.ts';

/** The rows that a filter reads. */
export interface EventTarget {
  /** Alias of the row with `event`, `actor_type`, `actor_id` and `changed`. */
  readonly facts: string;
  /** Alias of the record after the write, or before a delete. */
  readonly record: string;
  /** Alias of the record before an update; its columns are null for other events. */
  readonly previous: string;
  readonly parameters: Parameters;
}

/** Where a filter is read. Undefined stands for events without a collection. */
interface FilterScope {
  readonly collection: Collection | undefined;
  readonly schema: QuerySchema;
}

/**
 * Compiles a webhook's filter (webhooks §1.7) for the events of one collection to an SQL condition. Throws QueryError
 * for a filter that these events cannot be judged by.
 */
export function compileEventFilter(
  text: string,
  scope: FilterScope,
  { facts, record, previous, parameters }: EventTarget,
): string {
  const outer = { row: record, parameters, outer: { row: previous, parameters } };
  return compile(
    resolveFilter(parse(text, { hasChanged: true }), scope),
    withCollation(scope, { row: facts, parameters, outer }),
  );
}

/**
 * Checks a filter before it is saved. Throws QueryError for one that holds for no event of these collections, since each
 * lacks a name, and for one that cannot be compiled for another reason. `hasOthers` says whether events without a
 * collection come too.
 */
export function checkEventFilter(
  text: string,
  {
    collections,
    schema,
    hasOthers,
  }: { readonly collections: readonly Collection[]; readonly schema: QuerySchema; readonly hasOthers: boolean },
): void {
  const expression = parse(text, { hasChanged: true });
  const lacking: UnknownName[] = [];
  const scopes = [...collections, ...(hasOthers || collections.length === 0 ? [undefined] : [])];
  for (const collection of scopes) {
    try {
      resolveFilter(expression, { collection, schema });
    } catch (error) {
      if (!(error instanceof UnknownName)) throw error;
      lacking.push(error);
    }
  }
  const [first] = lacking;
  if (first && lacking.length === scopes.length) throw first;
}

/**
 * The schema for a filter of an owner's webhook. It names no other collection and no field with a `view_rule`: by what it
 * lets pass, its author would learn what the owner may not see.
 */
export const ownersSchema = ({ collation }: Pick<QuerySchema, 'collation'>): QuerySchema => ({
  collation,
  findCollection: () => undefined,
  isHidden: (field) => isHidden(field) || field.viewRule != null,
});

function resolveFilter(expression: Expression, { collection, schema }: FilterScope): Resolved {
  for (const { test } of testsIn(expression)) {
    if (test.kind !== 'in' || !('kind' in test.among) || test.among.kind !== 'path') continue;
    if (test.among.segments[0] !== changedNames || test.left.kind !== 'text') continue;
    const { value, position } = test.left;
    const field = collection && membersOf(collection).get(value)?.field;
    if (!field || (schema.isHidden ?? isHidden)(field))
      throw new UnknownName(`${collection?.name ?? 'the event'} has no field "${value}"`, position + 1);
  }
  return resolve(expression, eventScope(collection, schema));
}
