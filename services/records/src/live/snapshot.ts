import { malformed, notFound } from '@recordbus/errors';
import type { LiveCaller, SnapshotRequest } from '@recordbus/live';
import { createNamedParameters, type QuerySchema } from '@recordbus/query';
import type { Collection, FieldEncryption } from '@recordbus/schema';
import { findRecord } from '../read/get-record.ts';
import { listRecords } from '../read/list-records.ts';
import type { RecordReads } from '../read/record-reads.ts';
import type { ServedCollections } from '../record/served-collections.ts';
import { schemaFor } from '../rules/key-collections.ts';
import type { RuleContext } from '../rules/rule-context.ts';

import { readSort } from '../shape/conditions.ts';
import { actionOf, givenText, requestValuesOf } from './live-plans.ts';

type ReadContext = Pick<RuleContext, 'principal' | 'schema'>;

interface SnapshotDeps {
  readonly reads: RecordReads;
  readonly served: Pick<ServedCollections, 'serve'>;
  readonly schema: QuerySchema;
  readonly encryption: FieldEncryption;
}

interface Snapshot {
  /** A list of records as JSON text. */
  readonly records: string;
  /** How many records the list has in total; undefined for a single record. */
  readonly total?: number | undefined;
}

/** The page of a list (records §3.1). */
const defaultPage = { page: 1, perPage: 30 };
const maxPerPage = 1000;

/** Reads a subscription's snapshot. Throws as a GET does. */
export function readSnapshot(deps: SnapshotDeps, request: SnapshotRequest, caller: LiveCaller): Promise<Snapshot> {
  const { principal } = caller;
  const { served, schema } = deps;
  const context = { principal, schema: schemaFor(principal, schema), request: requestValuesOf(caller) };
  return served.serve({ collection: request.collection, action: actionOf(request), principal }, (collection) =>
    request.record === undefined
      ? readPage(deps, collection, request, context)
      : readOne(deps, collection, { ...request, id: request.record }, context),
  );
}

/** Throws 400 for a page that no list has, or a sort that is not valid. A filter's fields are checked by its plan. */
export function checkPage(
  collection: Collection,
  { page, perPage, sort }: SnapshotRequest,
  context: ReadContext,
): void {
  readNumbers({ page, perPage });
  const order = givenText(sort);
  if (order !== undefined)
    readSort(collection, order, { row: 't', parameters: createNamedParameters<object>() }, context);
}

const readNumbers = ({ page, perPage }: Pick<SnapshotRequest, 'page' | 'perPage'>) => ({
  page: readWhole('page', page ?? defaultPage.page, Number.MAX_SAFE_INTEGER),
  perPage: readWhole('perPage', perPage ?? defaultPage.perPage, maxPerPage),
});

async function readPage(
  { reads, encryption }: SnapshotDeps,
  collection: Collection,
  { filter, sort, fields, expand, ...given }: SnapshotRequest,
  context: RuleContext,
): Promise<Snapshot> {
  const texts = {
    filter: givenText(filter),
    sort: givenText(sort),
    fields: givenText(fields),
    expand: givenText(expand),
  };
  const list = { ...readNumbers(given), skipTotal: false, ...texts };
  const body = await listRecords(reads, collection, list, context, encryption);
  const [whole = '', total] = endOfList.exec(body) ?? [];
  return { records: body.slice(dataStart.length, -whole.length), total: Number(total) };
}

async function readOne(
  { reads, encryption }: SnapshotDeps,
  collection: Collection,
  { id, fields, expand }: SnapshotRequest & { readonly id: string },
  context: RuleContext,
): Promise<Snapshot> {
  const request = { id, fields: givenText(fields), expand: givenText(expand) };
  const found = await findRecord(reads, collection, request, context, encryption);
  if (!found) throw notFound('record');
  return { records: `[${found.body.slice(dataStart.length, -1)}]` };
}

/** The text before an answer's records. */
const dataStart = '{"data":';
const endOfList = /,"page":\d+,"perPage":\d+,"totalItems":(\d+),"totalPages":\d+\}$/;

function readWhole(name: string, value: number, max: number): number {
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw malformed(`${name} must be a whole number from 1 to ${max}`, { [name]: `must be from 1 to ${max}` });
  return value;
}
