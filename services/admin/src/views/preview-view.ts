import { randomBytes } from 'node:crypto';
import { type Database, newId, type Query } from '@recordbus/database';
import { unavailable } from '@recordbus/errors';
import { createFairGate } from '@recordbus/limits/fair-gate';
import { currentCaller } from '@recordbus/request/request-scope';
import { type Collection, loadCollections, presentField, tableOf } from '@recordbus/schema';
import { buildView, reportingDatabaseErrors } from './build-view.ts';

/** The fields that a view would have, and its first rows. */
export interface ViewPreview {
  readonly fields: readonly ReturnType<typeof presentField>[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** How many rows a preview has, and how many characters a value before it is cut. */
const maxRows = 20;
const maxValueLength = 1000;

/** How long a preview may take, in milliseconds. */
const timeoutMs = 5000;

/** A preview holds a write connection for as long as its query takes, so few run at once. */
const gate = createFairGate({
  width: 1,
  maxWaiting: 8,
  maxWaitingPerClient: 2,
  maxWaitMs: 2 * timeoutMs,
  refuse: () => unavailable('other previews are being read; try again'),
});

/** Rolls back a preview's transaction. */
class Preview extends Error {
  readonly preview: ViewPreview;
  constructor(preview: ViewPreview) {
    super("a preview's transaction is rolled back");
    this.preview = preview;
  }
}

/**
 * Returns the fields and first rows of a view with this query. The view is built as for a collection, and rolled back.
 * Throws 422 for a query that is invalid or takes too long, 503 when too many others wait.
 */
export async function previewView(database: Pick<Database, 'transaction'>, viewQuery: string): Promise<ViewPreview> {
  try {
    return await gate.run(currentCaller(), () =>
      database.transaction(async (query) => {
        throw new Preview(await tryView(query, viewQuery));
      }),
    );
  } catch (error) {
    if (error instanceof Preview) return error.preview;
    throw error;
  }
}

async function tryView(query: Query, viewQuery: string): Promise<ViewPreview> {
  await query({ text: `set local statement_timeout = ${timeoutMs}`, values: [] });
  const { collections } = await loadCollections(query);
  const view = await buildView(draftOf(viewQuery), { query, collections, checksIds: false });
  const rows = await reportingDatabaseErrors(() =>
    query<{ row: Record<string, unknown> }>({
      text: `select (select jsonb_object_agg(e.key, case when length(e.value::text) > ${maxValueLength}
          then to_jsonb(left(e.value #>> '{}', ${maxValueLength}) || '…') else e.value end)
          from jsonb_each(to_jsonb(t)) e) as row
        from (select * from ${tableOf(view)} limit ${maxRows}) t`,
      values: [],
    }),
  );
  return { fields: view.fields.map(presentField), rows: rows.map(({ row }) => row) };
}

const draftOf = (viewQuery: string): Collection => ({
  id: newId(),
  name: `preview_${randomBytes(8).toString('hex')}`,
  type: 'view',
  fields: [],
  viewQuery,
  rules: { list: '', view: '', create: '', update: '', delete: '' },
  historyEnabled: false,
  createdAtSec: 0,
  updatedAtSec: 0,
});
