import { type Collection, type FieldEncryption, perCollection } from '@recordbus/schema';
import { callerKind } from '../rules/compile-rule.ts';
import { needsRuleCheck, type RuleContext } from '../rules/rule-context.ts';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import { areFew } from '../shape/expansion.ts';
import type { Projection } from '../shape/record-json.ts';
import { createShapeCache } from '../shape/shape-cache.ts';
import { composeList, type List } from './compose-list.ts';
import { isCommonPage, type ListRequest } from './list-request.ts';
import type { RecordReads } from './record-reads.ts';
import { findKnownTotal, keepTotal, type Total } from './total.ts';

const plainShapesOf = perCollection(() => createShapeCache<List>('list'));
/** A separate cache, since clients keep sending new filters, which would displace other shapes. */
const filteredShapesOf = perCollection(() => createShapeCache<List>('filter'));

/**
 * Reads a page of the records that the list rule and the filter admit, with its totals. The database writes the whole
 * body of the answer. Throws 400 for an invalid filter, sort or expand, and 422 for a list that takes too long or is too
 * large.
 */
export async function listRecords(
  reads: RecordReads,
  collection: Collection,
  request: ListRequest,
  ruleContext: RuleContext,
  encryption: FieldEncryption,
): Promise<string> {
  const { page, perPage, skipTotal, filter, sort, fields, expand } = request;
  const isFiltered = filter !== undefined || needsRuleCheck(collection, 'list', ruleContext);
  // Rows of a view appear and disappear without events, so their total cannot be incremental.
  const isCounted = isFiltered || collection.type === 'view';
  // The snapshot of a standby does not say which transactions it lacks.
  const isKept = !skipTotal && !isCounted;
  const known = !isKept ? undefined : findKnownTotal(collection);
  const totalMode = skipTotal ? 'none' : known ? 'incremental' : 'count';
  const shape = JSON.stringify([
    isCommonPage(request) && perPage,
    totalMode,
    callerKind(ruleContext),
    sort,
    fields,
    filter,
    expand,
  ]);
  const isPlain = [sort, fields, filter, expand].every((part) => part === undefined);
  const shapesOf = isFiltered ? filteredShapesOf : plainShapesOf;
  const compose = () => composeList(collection, request, totalMode, ruleContext);
  const { valuesFrom, projection, ...statement } = shapesOf(collection)(shape, compose, isPlain);
  const offset = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
  const statementFor = (maxBytes: number) => {
    const given = { page, perPage, offset, maxBytes, total: known?.total, snapshot: known?.snapshot };
    const onPrimary = isKept || statement.onPrimary === true;
    return { ...statement, onPrimary, values: valuesFrom(given, ruleContext.request) };
  };
  const isShaped = !isPlainList(request, projection) || isCounted || totalMode === 'count';
  const [row] = await (isShaped
    ? reads.shaped<{ body: string } & Total>(statementFor(reads.maxAnswerBytes()))
    : reads.page<{ body: string } & Total>(collection.name, statementFor));
  if (!row) throw new Error('the statement of a list returned no row');
  if (isKept && reads.isCommitted) keepTotal(collection, row, !known);
  return decryptAnswer(encryption, projection, row.body, reads.maxAnswerBytes());
}

/** A first page in the default order, with few expansions: no parameter of the client makes it much more expensive. */
const isPlainList = (request: ListRequest, { view, expansions = [] }: Projection): boolean =>
  isCommonPage(request) &&
  request.sort === undefined &&
  request.filter === undefined &&
  view.conditional.size === 0 &&
  areFew(expansions);
