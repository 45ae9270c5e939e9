import type { Query } from '@recordbus/database';
import { startSlice } from '@recordbus/limits/time-slice';
import type { Parameters } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import type { RuleContext } from '../rules/rule-context.ts';
import { readCondition } from '../shape/conditions.ts';
import { readDoubles } from './array-bytes.ts';
import { cosine, unit } from './cosine.ts';
import type { Near } from './near-request.ts';
import {
  composeCandidates,
  composeLoad,
  composeRowSource,
  composeScan,
  composeVectors,
  composeViewSource,
  versionBytes,
} from './near-sql.ts';
import { prefilter } from './prefilter.ts';
import { byScore, createTopK, type Scored, type TopK } from './top-k.ts';
import type { KeptVectors, VectorMemory } from './vector-memory.ts';
import type { RowVersion } from './vector-rows.ts';

/** A vector search in a transaction with one snapshot. */
export interface RankedSearch {
  readonly query: Query;
  readonly collection: Collection;
  readonly near: Near;
  readonly filter: string | undefined;
  readonly ruleContext: RuleContext;
}

/** About how much memory one batch of loaded rows takes. */
const loadBytes = 2 ** 21;
const bytesOfElement = 16;

/** Ranks the rows that list rule and filter admit. Returns the top k, and the candidates that may belong to them. */
export async function rankCandidates(search: RankedSearch, memory: VectorMemory): Promise<readonly Scored[]> {
  const topK = createTopK(search.near.limit, search.near.minScore);
  if (search.collection.type === 'view') await scanView(search, topK);
  else await rankRows(search, memory, topK);
  return topK.all();
}

const batchSizeOf = ({ dimensions }: Near): number =>
  Math.min(Math.max(Math.floor(loadBytes / (dimensions * bytesOfElement)), 16), 1000);

async function rankRows(search: RankedSearch, memory: VectorMemory, topK: TopK): Promise<void> {
  const { query, collection, near, filter, ruleContext } = search;
  const { text, parameters, isConditional } = composeCandidates(collection, near.field, filter, ruleContext);
  const [found] = await query<{ storage: string; versions: Buffer | null }>({
    text,
    values: parameters.values(ruleContext.request),
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
        await loadMissing(search, kept, missing, topK);
      });
    if (!isConditional && rows.count > count) rows.keepOnly(slots);
    const direction = unit(near.vector);
    await inSlices(count, (index) => {
      const slot = slots[index] ?? -1;
      if (slot >= 0) topK.add(rows.idOf(slot), rows.product(slot, direction));
    });
  });
}

/** Fills `slots` with where the candidates are in memory, -1 for those that are not. Returns these. */
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

/** More rows than a block has. */
const offsetsPerBlock = 2 ** 16;

const readVersion = (bytes: Buffer, at: number): RowVersion => ({
  place: bytes.readUInt32BE(at) * offsetsPerBlock + bytes.readUInt16BE(at + 4),
  transaction: bytes.readUInt32BE(at + 6),
});

const ctidOf = ({ place }: RowVersion): string => `(${Math.floor(place / offsetsPerBlock)},${place % offsetsPerBlock})`;

/**
 * Ranks the candidates that are not in memory as they are read, and keeps them while there is room. Once there is none,
 * a prefilter in the database, where it works, leaves only candidates that may belong to the top k.
 */
async function loadMissing(
  search: RankedSearch,
  { rows, hasRoom }: KeptVectors,
  missing: readonly RowVersion[],
  topK: TopK,
): Promise<void> {
  const { query, collection, near } = search;
  const text = composeLoad(collection, near.field);
  const batchSize = batchSizeOf(near);
  let ctids = missing.map(ctidOf);
  let isPrefiltered = false;
  while (ctids.length > 0) {
    if (!isPrefiltered && ctids.length > batchSize && !hasRoom()) {
      isPrefiltered = true;
      const compose = (parameters: Parameters) => composeRowSource(collection, near.field, ctids, parameters);
      ctids = [...((await prefilter(query, near, { compose })) ?? ctids)];
    }
    const loaded = await query<LoadedRow>({ text, values: [ctids.slice(0, batchSize)] });
    ctids = ctids.slice(batchSize);
    await inSlices(loaded.length, (index) => {
      const { id, bytes } = loaded[index] ?? { id: '', bytes: '' };
      const decoded = Buffer.from(bytes, 'base64');
      const vector = readDoubles(decoded, versionBytes, near.dimensions);
      if (!vector) return;
      topK.add(id, cosine(near.vector, vector));
      if (hasRoom()) rows.put(readVersion(decoded, 0), id, unit(vector));
    });
  }
}

interface LoadedRow {
  readonly id: string;
  /** Base64. */
  readonly bytes: string;
}

/** Ranks the rows that list rule and filter admit. Returns the ids of the top k in their order. */
export async function rankExactly(search: RankedSearch, memory: VectorMemory): Promise<readonly string[]> {
  const { limit, minScore } = search.near;
  const candidates = await rankCandidates(search, memory);
  const exact: Scored[] = [];
  await scoreRows(
    search,
    candidates.map(({ id }) => id),
    (id, score) => exact.push({ id, score }),
  );
  return exact
    .filter(({ score }) => score >= minScore)
    .sort(byScore)
    .slice(0, limit)
    .map(({ id }) => id);
}

/** Reads the rows with these ids, and computes their vectors' scores. */
async function scoreRows(
  { query, collection, near }: RankedSearch,
  ids: readonly string[],
  add: AddScore,
): Promise<void> {
  const text = composeVectors(collection, near.field);
  const batchSize = batchSizeOf(near);
  for (let start = 0; start < ids.length; start += batchSize)
    await scoreLoaded(near, await query<LoadedRow>({ text, values: [ids.slice(start, start + batchSize)] }), add);
}

type AddScore = (id: string, score: number) => void;

const scoreLoaded = (near: Near, rows: readonly LoadedRow[], add: AddScore): Promise<void> =>
  inSlices(rows.length, (index) => {
    const { id, bytes } = rows[index] ?? { id: '', bytes: '' };
    const vector = readDoubles(Buffer.from(bytes, 'base64'), 0, near.dimensions);
    if (vector) add(id, cosine(near.vector, vector));
  });

/** View rows have no versions, so all are read at each search, unless the prefilter works. */
async function scanView(search: RankedSearch, topK: TopK): Promise<void> {
  const { query, collection, near, filter, ruleContext } = search;
  const batchSize = batchSizeOf(near);
  const compose = (parameters: Parameters) =>
    composeViewSource(collection, near.field, readCondition(collection, filter, { row: 't', parameters }, ruleContext));
  const ids = await prefilter(query, near, { compose, request: ruleContext.request });
  if (ids) return scoreRows(search, ids, topK.add);
  const { text, valuesFrom } = composeScan(collection, near.field, filter, ruleContext);
  for (let last = ''; ; ) {
    const rows = await query<LoadedRow>({ text, values: valuesFrom({ last, batchSize }, ruleContext.request) });
    await scoreLoaded(near, rows, topK.add);
    if (rows.length < batchSize) return;
    last = rows.at(-1)?.id ?? '';
  }
}

/** How many steps run between two looks at the clock. */
const stepsPerCheck = 256;

/** Runs `step` for each index below `count`, in time slices between which the event loop runs other work. */
async function inSlices(count: number, step: (index: number) => void): Promise<void> {
  const slice = startSlice();
  for (let index = 0; index < count; index += 1) {
    step(index);
    if (index % stepsPerCheck === stepsPerCheck - 1 && slice.isOver()) await slice.pause();
  }
}
