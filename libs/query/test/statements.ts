import assert from 'node:assert/strict';
import { tableOf } from '@recordbus/schema';
import {
  compileExcluded,
  compileExpression,
  compileSort,
  createParameters,
  QueryError,
  type RequestValues,
} from '../src/index.ts';
import type { Scope } from '../src/resolve/scope.ts';
import type { QueryFixture } from './query-fixture.ts';

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** The ids that a statement finds, or the message when its text is refused. */
export type Answer =
  | { readonly ids: readonly string[]; readonly refusal?: undefined }
  | { readonly ids?: undefined; readonly refusal: string };

/** Runs a statement that finds ids, unless its text is refused. */
export async function answerOf({ database }: QueryFixture, compose: () => Statement): Promise<Answer> {
  const refusal = refusalBy(compose);
  if (refusal !== undefined) return { refusal };
  const rows = await database.query<{ id: string }>(compose());
  return { ids: rows.map(({ id }) => id) };
}

/** The message with which a text is refused; undefined where it is accepted. */
export function refusalBy(compose: () => Statement): string | undefined {
  try {
    compose();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof QueryError, error instanceof Error ? error.stack : String(error));
    return error.message;
  }
}

/** Composes a statement for the records for which an expression holds. */
export const composeFind =
  (fixture: QueryFixture, text: string, request: RequestValues, hasLinks = true) =>
  (scope: Scope) =>
  (): Statement => {
    const into = placeIn(fixture, scope, hasLinks);
    return findWhere(scope, request, into.parameters, compileExpression(text, scope, into));
  };

/**
 * Composes a statement for the records that an expression excludes, all if its gate does not hold; undefined if it does
 * not say.
 */
export function composeExcluded(
  fixture: QueryFixture,
  text: string,
  request: RequestValues,
  scope: Scope,
): Statement | undefined {
  const into = placeIn(fixture, scope, true);
  const excluded = compileExcluded(text, scope, into);
  if (!excluded) return undefined;
  const { condition, gate } = excluded;
  return findWhere(scope, request, into.parameters, `case when ${gate} then ${condition} else true end`);
}

function placeIn({ collation }: QueryFixture, { collection, audience }: Scope, hasLinks: boolean) {
  const stored = audience === 'rule' ? { stored: 't' } : {};
  return {
    row: 't',
    ...stored,
    parameters: createParameters(),
    collation,
    isTable: hasLinks && collection.type !== 'view',
  };
}

const findWhere = (
  { collection }: Scope,
  request: RequestValues,
  parameters: ReturnType<typeof createParameters>,
  condition: string,
): Statement => ({
  text: `select t.id from ${tableOf(collection)} t where ${condition} order by t.id`,
  values: parameters.values(request),
});

/** Composes a statement for all records in sort order. */
export const composeSort =
  ({ collation }: QueryFixture, sort: string, request: RequestValues) =>
  (scope: Scope) =>
  (): Statement => {
    const parameters = createParameters();
    const isTable = scope.collection.type !== 'view';
    const { joins, orderBy } = compileSort(sort, scope, { row: 't', parameters, collation, isTable });
    return {
      text: `select t.id from ${tableOf(scope.collection)} t ${joins} order by ${orderBy}`,
      values: parameters.values(request),
    };
  };
