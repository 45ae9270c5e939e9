import { createNamedParameters, type SortKey } from '@recordbus/query';
import { type Collection, type FieldEncryption, perCollection } from '@recordbus/schema';
import { callerKind } from '../rules/compile-rule.ts';
import { needsRuleCheck, type RuleContext } from '../rules/rule-context.ts';
import { readSort } from '../shape/conditions.ts';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import { areFew } from '../shape/expansion.ts';
import { createShapeCache } from '../shape/shape-cache.ts';
import { type CursorPage, composeCursorPage } from './compose-cursor-page.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { isCommonPageSize, type ListRequest } from './list-request.ts';
import type { RecordReads } from './record-reads.ts';

/** A client's list by cursor. */
export interface CursorRequest extends Omit<ListRequest, 'page' | 'skipTotal'> {
  /** The previous page's `next`; empty for the first page. */
  readonly cursor: string;
}

/** The first part of the body, and the last record's sort values if more records follow. */
interface CursorRow {
  readonly body: string;
  readonly last: string | null;
}

const shapesOf = perCollection(() => createShapeCache<CursorPage>('cursor'));

/**
 * Reads a list's page after a cursor (records §3.6). It costs the same at any depth, and has no totals. Throws 400 for
 * an invalid filter, sort, expand or cursor, and 422 for a list that takes too long or is too large.
 */
export async function listByCursor(
  reads: RecordReads,
  collection: Collection,
  request: CursorRequest,
  ruleContext: RuleContext,
  encryption: FieldEncryption,
): Promise<string> {
  const { cursor, perPage, filter, sort, fields, expand } = request;
  const list = { collection, filter, sort, principal: ruleContext.principal };
  const after = cursor === '' ? undefined : readCursor(cursor, list, readKeys(collection, sort, ruleContext));
  const compose = () => composeCursorPage(collection, request, after, ruleContext);
  const nulls = after?.map((value) => value === null);
  const pageSize = isCommonPageSize(perPage) && perPage;
  const shape = JSON.stringify([pageSize, nulls, callerKind(ruleContext), sort, fields, filter, expand]);
  const isPlain = [sort, fields, filter, expand].every((part) => part === undefined);
  const { valuesFrom, projection, ...statement } = shapesOf(collection)(shape, compose, isPlain);
  const values = new Map(after?.map((value, index) => [String(index), value]));
  const statementFor = (maxBytes: number) => ({
    ...statement,
    values: valuesFrom({ perPage, maxBytes, after: values }, ruleContext.request),
  });
  const isShaped =
    !isCommonPageSize(perPage) ||
    [sort, filter].some((part) => part !== undefined) ||
    !areFew(projection.expansions ?? []) ||
    projection.view.conditional.size > 0 ||
    needsRuleCheck(collection, 'list', ruleContext) ||
    collection.type === 'view';
  const [row] = await (isShaped
    ? reads.shaped<CursorRow>(statementFor(reads.maxAnswerBytes()))
    : reads.page<CursorRow>(collection.name, statementFor));
  if (!row) throw new Error('the list statement returned no row');
  const next = row.last === null ? null : writeCursor(list, row.last);
  return decryptAnswer(encryption, projection, `${row.body},"next":${JSON.stringify(next)}}`, reads.maxAnswerBytes());
}

type ReadContext = Pick<RuleContext, 'principal' | 'schema'>;

/** A sort's keys, to check a cursor's values. */
const readKeys = (collection: Collection, sort: string | undefined, ruleContext: ReadContext): readonly SortKey[] =>
  readSort(collection, sort, { row: 't', parameters: createNamedParameters() }, ruleContext).keys;
