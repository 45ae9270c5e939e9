import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { Asking } from '../rules/compile-rule.ts';
import { readDoubles } from './array-bytes.ts';
import { type Best, createBest, type Scored } from './best.ts';
import { cosine, unit } from './cosine.ts';
import type { Near } from './near-request.ts';
import { composeCandidates, composeLoad, composeScan, versionBytes } from './near-sql.ts';
import { inSlices } from './time-slices.ts';
import type { KeptVectors, VectorMemory } from './vector-memory.ts';
import type { RowVersion } from './vector-rows.ts';

/** A search in a transaction that sees one snapshot throughout. */
export interface Search {
  readonly query: Query;
  readonly collection: Collection;
  readonly near: Near;
  readonly filter: string | undefined;
  readonly asking: Asking;
}

/** What is loaded at once takes about this much memory. */
const loadBytes = 2 ** 21;
const bytesOfElement = 16;

/** Ranks the rows that list rule and filter let through; gives the best and those that may be as good. */
export async function rankCandidates(search: Search, memory: VectorMemory): Promise<readonly Scored[]> {
  const best = createBest(search.near.limit, search.near.minScore);
  if (search.collection.type === 'view') await scanView(search, best);
  else await rankRows(search, memory, best);
  return best.all();
}

const rowsAtOnce = ({ dimensions }: Near): number =>
  Math.min(Math.max(Math.floor(loadBytes / (dimensions * bytesOfElement)), 16), 1000);

async function rankRows(search: Search, memory: VectorMemory, best: Best): Promise<void> {
  const { query, collection, near, filter, asking } = search;
  const { text, parameters, isConditional } = composeCandidates(collection, near.field, filter, asking);
  const [found] = await query<{ storage: string; versions: Buffer | null }>({
    text,
    values: parameters.values(asking.request),
  });
  if (!found?.versions) return;
  const { versions } = found;
  const name = `${collection.id}/${near.field.id}`;
  const kept = memory.open({ name, storage: found.storage, dimensions: near.dimensions });
  const { rows } = kept;
  await rows.reading(async () => {
    const count = versions.length / versionBytes;
    const slots = new Int32Array(count);
    let missing = await findSlots(versions, slots, kept);
    if (missing.length > 0)
      await kept.adding(async () => {
        // Another search may have loaded them meanwhile.
        missing = await findSlots(versions, slots, kept);
        await loadMissing(search, kept, missing, best);
      });
    if (!isConditional && rows.count > count) rows.keepOnly(slots);
    const direction = unit(near.vector);
    await inSlices(count, (index) => {
      const slot = slots[index] ?? -1;
      if (slot >= 0) best.add(rows.idOf(slot), rows.product(slot, direction));
    });
  });
}

/** Finds where the candidates are in memory, -1 for those that are not, which it gives. */
async function findSlots(versions: Buffer, slots: Int32Array, { rows }: KeptVectors): Promise<RowVersion[]> {
  const missing: RowVersion[] = [];
  await inSlices(slots.length, (index) => {
    const version = readVersion(versions, index * versionBytes);
    const slot = rows.find(version);
    slots[index] = slot ?? -1;
    if (slot === undefined) missing.push(version);
  });
  return missing;
}

/** A block has far fewer rows than this. */
const offsets = 2 ** 16;

const readVersion = (bytes: Buffer, at: number): RowVersion => ({
  place: bytes.readUInt32BE(at) * offsets + bytes.readUInt16BE(at + 4),
  transaction: bytes.readUInt32BE(at + 6),
});

/** Ranks the candidates that are not in memory as they are read, and keeps them as far as there is room. */
async function loadMissing(
  { query, collection, near }: Search,
  { rows, hasRoom }: KeptVectors,
  missing: readonly RowVersion[],
  best: Best,
): Promise<void> {
  const text = composeLoad(collection, near.field);
  const step = rowsAtOnce(near);
  for (let start = 0; start < missing.length; start += step) {
    const places = missing
      .slice(start, start + step)
      .map(({ place }) => `(${Math.floor(place / offsets)},${place % offsets})`);
    const loaded = await query<LoadedRow>({ text, values: [places] });
    await inSlices(loaded.length, (index) => {
      const { id, bytes } = loaded[index] ?? { id: '', bytes: '' };
      const decoded = Buffer.from(bytes, 'base64');
      const vector = readDoubles(decoded, versionBytes, near.dimensions);
      if (!vector) return;
      best.add(id, cosine(near.vector, vector));
      if (hasRoom()) rows.put(readVersion(decoded, 0), id, unit(vector));
    });
  }
}

interface LoadedRow {
  readonly id: string;
  /** Base64. */
  readonly bytes: string;
}

/** The rows of a view have no versions, so all of them are read. */
async function scanView({ query, collection, near, filter, asking }: Search, best: Best): Promise<void> {
  const { text, parameters } = composeScan(collection, near.field, filter, asking);
  const step = rowsAtOnce(near);
  for (let last = ''; ; ) {
    const rows = await query<LoadedRow>({ text, values: [last, step, ...parameters.values(asking.request)] });
    await inSlices(rows.length, (index) => {
      const { id, bytes } = rows[index] ?? { id: '', bytes: '' };
      const vector = readDoubles(Buffer.from(bytes, 'base64'), 0, near.dimensions);
      if (vector) best.add(id, cosine(near.vector, vector));
    });
    if (rows.length < step) return;
    last = rows.at(-1)?.id ?? '';
  }
}
