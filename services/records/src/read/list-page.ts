import { malformedParameter } from '@recordbus/errors';
import type { Collection, FieldEncryption } from '@recordbus/schema';
import type { RuleContext } from '../rules/rule-context.ts';
import { listByCursor } from './list-by-cursor.ts';
import { listRecords } from './list-records.ts';
import type { ListRequest } from './list-request.ts';
import type { RecordReads } from './record-reads.ts';

interface PageRequest extends ListRequest {
  /** The previous page's `next`; empty for the first page, undefined for a page by its number. */
  readonly cursor?: string | undefined;
}

/** Reads a list page, by its number or by a cursor. Throws 400 for a request with both, and these lists' errors. */
export function listPage(
  reads: RecordReads,
  collection: Collection,
  request: PageRequest,
  ruleContext: RuleContext,
  encryption: FieldEncryption,
): Promise<string> {
  const { cursor, page } = request;
  if (cursor === undefined) return listRecords(reads, collection, request, ruleContext, encryption);
  if (page !== 1) throw malformedParameter('page', 'cannot be combined with cursor');
  return listByCursor(reads, collection, { ...request, cursor }, ruleContext, encryption);
}
