import type { Client } from './client.ts';
import { type Draft, dataSet, type IdsByCollection } from './data-set.ts';

/** Called after each record with how many of the collection's records exist and the total. */
export type OnProgress = (collection: string, done: number, total: number) => void;

interface Loaded {
  readonly ids: IdsByCollection;
  readonly createdCount: number;
  readonly presentCount: number;
  readonly seconds: number;
}

/** How many requests run at once. */
const parallel = 8;
const pageSize = 200;

/** Loads the data set's missing records, so that a run continues where the last one ended. */
export async function loadDataSet(admin: Client, onProgress: OnProgress): Promise<Loaded> {
  const startedAtMs = performance.now();
  const ids: Record<string, Map<string, string>> = {};
  let createdCount = 0;
  let presentCount = 0;
  for (const [collection, drafts] of Object.entries(dataSet)) {
    const known = await readIds(admin, collection);
    ids[collection] = known;
    const all = drafts(ids);
    const missing = all.filter(({ code }) => !known.has(code));
    presentCount += all.length - missing.length;
    createdCount += missing.length;
    await inParallel(missing, async (draft, done) => {
      const { id } = await admin.call<{ id: string }>('POST', `/api/v1/records/${collection}`, draft);
      known.set(draft.code, id);
      onProgress(collection, all.length - missing.length + done(), all.length);
    });
  }
  return { ids, createdCount, presentCount, seconds: (performance.now() - startedAtMs) / 1000 };
}

async function readIds(admin: Client, collection: string): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (let page = 1; ; page += 1) {
    const query = new URLSearchParams({
      page: `${page}`,
      perPage: `${pageSize}`,
      sort: 'id',
      fields: 'code',
      skipTotal: '1',
    });
    const records = await admin.call<{ id: string; code: string }[]>('GET', `/api/v1/records/${collection}?${query}`);
    for (const { id, code } of records) ids.set(code, id);
    if (records.length < pageSize) return ids;
  }
}

async function inParallel(drafts: readonly Draft[], work: (draft: Draft, done: () => number) => Promise<void>) {
  const waiting = drafts.values();
  let count = 0;
  const done = () => {
    count += 1;
    return count;
  };
  // The workers share an iterator, so each draft is taken once.
  const worker = async () => {
    for (const draft of waiting) await work(draft, done);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}
