import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { Asking } from '../rules/compile-rule.ts';
import { readDoubles } from './array-bytes.ts';
import { type Best, createBest, type Scored } from './best.ts';
import { cosine, unit } from './cosine.ts';
import { sieveInDatabase } from './database-sieve.ts';
import type { Near } from './near-request.ts';
import {
  composeCandidates,
  composeLoad,
  composePlaces,
  composeScan,
  composeViewLoad,
  composeViewSource,
  versionBytes,
} from './near-sql.ts';
import { inSlices } from './time-slices.ts';
import type { KeptVectors, VectorMemory } from './vector-memory.ts';
import type { RowVersion } from './vector-rows.ts';

/** A search in a transaction that sees one snapshot throughout. */
interface Search {
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

const placeOf = ({ place }: RowVersion): string => `(${Math.floor(place / offsets)},${place % offsets})`;

/**
 * Ranks the candidates that are not in memory as they are read, and keeps them as far as there is room. Of those for
 * which there is none only the ones are read that the database, where it can tell, takes for the best.
 */
async function loadMissing(
  search: Search,
  { rows, hasRoom }: KeptVectors,
  missing: readonly RowVersion[],
  best: Best,
): Promise<void> {
  const { query, collection, near } = search;
  const text = composeLoad(collection, near.field);
  const step = rowsAtOnce(near);
  let places = missing.map(placeOf);
  let isSieved = false;
  while (places.length > 0) {
    if (!isSieved && places.length > step && !hasRoom()) {
      isSieved = true;
      const source = { text: composePlaces(collection, near.field), values: [places] };
      places = [...((await sieveInDatabase(query, near, source)) ?? places)];
    }
    const loaded = await query<LoadedRow>({ text, values: [places.slice(0, step)] });
    places = places.slice(step);
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

/** The rows of a view have no versions, so all of them are read, unless the database can tell which are the best. */
async function scanView(search: Search, best: Best): Promise<void> {
  const { query, collection, near, filter, asking } = search;
  const step = rowsAtOnce(near);
  const add = (rows: readonly LoadedRow[]): Promise<void> =>
    inSlices(rows.length, (index) => {
      const { id, bytes } = rows[index] ?? { id: '', bytes: '' };
      const vector = readDoubles(Buffer.from(bytes, 'base64'), 0, near.dimensions);
      if (vector) best.add(id, cosine(near.vector, vector));
    });
  const source = composeViewSource(collection, near.field, filter, asking);
  const values = source.parameters.values(asking.request);
  const ids = await sieveInDatabase(query, near, { text: source.text, values });
  if (ids) {
    const text = composeViewLoad(collection, near.field);
    for (let start = 0; start < ids.length; start += step)
      await add(await query<LoadedRow>({ text, values: [ids.slice(start, start + step)] }));
    return;
  }
  const { text, parameters } = composeScan(collection, near.field, filter, asking);
  for (let last = ''; ; ) {
    const rows = await query<LoadedRow>({ text, values: [last, step, ...parameters.values(asking.request)] });
    await add(rows);
    if (rows.length < step) return;
    last = rows.at(-1)?.id ?? '';
  }
}
