import { type Collection, type FieldEncryption, perCollection } from '@recordbus/schema';
import { withValues } from '../record/prepared.ts';
import { callerKind } from '../rules/compile-rule.ts';
import { needsRuleCheck, type RuleContext } from '../rules/rule-context.ts';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import { createShapeCache } from '../shape/shape-cache.ts';
import { composeList, type List, type TotalMode } from './compose-list.ts';
import { isCommonPage, type ListRequest } from './list-request.ts';
import type { RecordReads } from './record-reads.ts';
import { findKnownTotal, keepTotal, type Total } from './total.ts';

const plainShapesOf = perCollection(() => createShapeCache<List>('list'));
/** A separate cache, since clients keep sending new filters, which would displace other shapes. */
const filteredShapesOf = perCollection(() => createShapeCache<List>('filter'));

/**
 * Reads a page of the records that the list rule and the filter admit, with its totals. The database writes the
 * answer's whole body. Throws 400 for an invalid filter, sort or expand, and 422 for a list that takes too long or is
 * too large.
 */
export async function listRecords(
  reads: RecordReads,
  collection: Collection,
  request: ListRequest,
  ruleContext: RuleContext,
  encryption: FieldEncryption,
): Promise<string> {
  const isFiltered = request.filter !== undefined || needsRuleCheck(collection, 'list', ruleContext);
  const { list, known } = chooseList(collection, request, isFiltered, ruleContext);
  const { projection, countsWhole, isPage } = list;
  const { page, perPage } = request;
  const offset = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
  const statementFor = (maxBytes: number) => {
    const given = { page, perPage, offset, maxBytes, total: known?.total, snapshot: known?.snapshot };
    return withValues(list, list.valuesFrom(given, ruleContext.request));
  };
  const [row] = await (isPage
    ? reads.page<{ body: string } & Total>(collection.name, statementFor)
    : reads.shaped<{ body: string } & Total>(statementFor(reads.maxAnswerBytes())));
  if (!row) throw new Error('the list statement returned no row');
  if (countsWhole && reads.isCommitted) keepTotal(collection, row, !known);
  return decryptAnswer(encryption, projection, row.body, reads.maxAnswerBytes());
}

interface ChosenList {
  readonly list: List;
  /** The collection's total that an incremental total adds to. */
  readonly known: Total | undefined;
}

/**
 * Finds a list's statement. The total is incremental if it is computed from the collection's, which has to be known.
 */
function chooseList(
  collection: Collection,
  request: ListRequest,
  isFiltered: boolean,
  ruleContext: RuleContext,
): ChosenList {
  const { perPage, filter, ids, sort, fields, expand } = request;
  // Hardly anyone asks for the same ids again.
  if (ids) {
    const list = composeList(collection, request, request.skipTotal ? 'none' : 'count', ruleContext);
    return { list, known: undefined };
  }
  const isPlain = sort === undefined && fields === undefined && filter === undefined && expand === undefined;
  const sized = isCommonPage(request) && perPage;
  const shapesOf = isFiltered ? filteredShapesOf : plainShapesOf;
  const listIn = (totalMode: TotalMode): List => {
    const plainShape = `${totalMode} ${sized} ${callerKind(ruleContext)}`;
    const shape = isPlain ? plainShape : JSON.stringify([plainShape, sort, fields, filter, expand]);
    return shapesOf(collection)(shape, () => composeList(collection, request, totalMode, ruleContext), isPlain);
  };
  if (request.skipTotal) return { list: listIn('none'), known: undefined };
  const counted = isFiltered ? listIn('count') : undefined;
  const known = counted?.countsWhole === false ? undefined : findKnownTotal(collection);
  return { list: known ? listIn('incremental') : (counted ?? listIn('count')), known };
}
