import assert from 'node:assert/strict';
import { tableOf } from '@recordbus/schema';
import { compileExpression, compileSort, createParameters, QueryError, type RequestValues } from '../src/index.ts';
import type { Scope } from '../src/resolve/scope.ts';
import type { QueryFixture } from './query-fixture.ts';

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** The ids that a statement finds, or the message of the refusal of its text. */
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

/** Composes a statement of the records for which an expression holds. */
export const composeFind =
  ({ collation }: QueryFixture, text: string, request: RequestValues, hasLinks = true) =>
  (scope: Scope) =>
  (): Statement => {
    const parameters = createParameters();
    const isTable = hasLinks && scope.collection.type !== 'view';
    const stored = scope.audience === 'rule' ? { stored: 't' } : {};
    const condition = compileExpression(text, scope, { row: 't', ...stored, parameters, collation, isTable });
    return {
      text: `select t.id from ${tableOf(scope.collection)} t where ${condition} order by t.id`,
      values: parameters.values(request),
    };
  };

/** Composes a statement of all records in the order of a sort. */
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
