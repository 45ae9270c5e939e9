import { createHash } from 'node:crypto';
import { AppError } from '@recordbus/errors';
import { createRowReader, type ReadRow } from '@recordbus/pocketbase/values';
import { callApi } from '@recordbus/stack-calls';
import { type ImportBody, importRows, readUpdated } from './import-rows.ts';
import type { Losses } from './losses.ts';
import type { Move } from './move-in.ts';
import type { OrderedCollection } from './order-collections.ts';
import { type MovedCollection, maxListed, type RefusedRecord } from './report.ts';
import type { NotedRow, SeenRow } from './state.ts';

/** Reads a collection's rows as bodies. The move's start is the time of records that have none. */
function createReader(
  { source, prepared, startedSec }: Pick<Move, 'source' | 'prepared' | 'startedSec'>,
  { collection }: OrderedCollection,
  losses: Losses,
): (row: Readonly<Record<string, unknown>>) => ReadRow {
  const { from } = collection;
  const { directory } = prepared;
  const tables = new Map(source.collections.map(({ id, name, type }) => [id, type === 'view' ? undefined : name]));
  const read = createRowReader(collection, {
    nameOf: (field) => directory.fieldNameOf(from, field),
    exists: (collectionId, id) => {
      const table = tables.get(collectionId);
      return table !== undefined && source.has(table, id);
    },
    count: losses.of(from.name),
  });
  return (row) => {
    const { id, body, files } = read(row);
    const times = Object.fromEntries(
      ['created', 'updated'].map((name) => [name, Math.min(Number(body[name] ?? startedSec), startedSec)]),
    );
    return { id, body: { ...body, ...times }, files };
  };
}

/** Notes what a collection has in the source now. */
export function noteSource(move: Move, ordered: OrderedCollection, losses: Losses): void {
  const { source, state, startedSec } = move;
  const { name } = ordered.collection.from;
  const read = createReader(move, ordered, losses);
  state.noteRows(name, seen());

  function* seen(): Generator<SeenRow> {
    for (const row of source.rows(name)) {
      const { id, body, files } = read(row);
      // The start of this run is not a property of the record.
      const own = body.updated === startedSec ? { ...body, created: 0, updated: 0 } : body;
      const digest = createHash('sha256').update(JSON.stringify(own)).digest('base64');
      yield { id, digest, updated: Number(body.updated), files };
    }
  }
}

/** Counts what a run would do with a collection's records. */
export async function foresee(move: Move, { collection }: OrderedCollection, moved: MovedCollection): Promise<void> {
  const { from, to } = collection;
  const { all, fresh, changed } = move.state.count(from.name);
  moved.created = fresh;
  moved.unchanged = all - fresh - changed;
  const now = await sortOut(move, to.name, [...move.state.changedRows(from.name)]);
  const gone = await sortOut(move, to.name, [...move.state.goneRows(from.name)]);
  moved.changed = now.free.length;
  moved.deleted = gone.free.length;
  moved.kept_here.push(...now.kept, ...gone.kept.filter((id) => gone.updated.has(id)));
}

/** Writes a collection's new and changed records. */
export async function writeRecords(move: Move, ordered: OrderedCollection, moved: MovedCollection): Promise<void> {
  const { state, losses } = move;
  const { from, to } = ordered.collection;
  const read = createReader(move, ordered, losses.silent);
  const before = state.count(from.name);
  moved.unchanged = before.all - before.fresh - before.changed;
  if (ordered.deferred.length > 0) state.noteWaiting(from.name);
  if (before.fresh > 0) {
    // A killed run may have written them, with values that are older now.
    const outdated = await sortOut(move, to.name, [...state.outdatedRows(from.name)]);
    state.noteSent(from.name);
    moved.kept_here.push(...outdated.kept.filter((id) => outdated.updated.has(id)));
    const missing = outdated.rows.filter(({ id }) => !outdated.updated.has(id));
    const rewritten = await rewrite(move, ordered, moved, read, [...new Set([...outdated.free, ...missing])]);
    const refused = await importRows(move, {
      collection: to.name,
      mode: 'skip',
      keep: move.keep,
      isSilent: move.isSilent,
      rows: () => bodiesOf(move, ordered, read, state.newRows(from.name)),
    });
    state.noteAllNewMoved(from.name, new Set(refused.map(({ id }) => id)));
    noteRefused(moved, refused);
    moved.created = before.fresh - outdated.rows.length + rewritten - refused.length;
  }
  if (before.changed > 0) {
    const { free, kept } = await sortOut(move, to.name, [...state.changedRows(from.name)]);
    moved.kept_here.push(...kept);
    moved.changed = await rewrite(move, ordered, moved, read, free);
  }
}

type Read = ReturnType<typeof createReader>;

function* bodiesOf(
  { source }: Move,
  { collection, deferred }: OrderedCollection,
  read: Read,
  rows: Iterable<NotedRow>,
): Generator<ImportBody> {
  for (const { id } of rows) {
    const row = source.findRow(collection.from.name, id);
    if (!row) continue;
    const { body } = read(row);
    const now =
      deferred.length === 0
        ? body
        : Object.fromEntries(Object.entries(body).filter(([name]) => !deferred.includes(name)));
    yield { ...now, id };
  }
}

/** Writes rows over what the target has of them. Returns how many were written. */
async function rewrite(
  move: Move,
  ordered: OrderedCollection,
  moved: MovedCollection,
  read: Read,
  rows: readonly NotedRow[],
): Promise<number> {
  const { state, address } = move;
  const { from, to } = ordered.collection;
  if (rows.length === 0) return 0;
  state.notePending(
    from.name,
    rows.map(({ id }) => id),
  );
  const refused = await importRows(move, {
    collection: to.name,
    mode: 'upsert',
    keep: move.keep,
    isSilent: move.isSilent,
    rows: () => bodiesOf(move, ordered, read, rows),
  });
  const isRefused = new Set(refused.map(({ id }) => id));
  const done = rows.flatMap(({ id }) => (isRefused.has(id) ? [] : [id]));
  state.noteUpdated(from.name, await readUpdated(address, to.name, done));
  state.noteMoved(from.name, done);
  noteRefused(moved, refused);
  return done.length;
}

/** Tells the records that are as the last run left them from those that were changed or deleted here since. */
async function sortOut({ address }: Move, collection: string, rows: readonly NotedRow[]) {
  const updated = await readUpdated(
    address,
    collection,
    rows.map(({ id }) => id),
  );
  const isFree = ({ id, updated: ours, isPending }: NotedRow) => isPending || updated.get(id) === ours;
  return { free: rows.filter(isFree), kept: rows.flatMap((row) => (isFree(row) ? [] : [row.id])), updated, rows };
}

/** Writes the relations that had to wait for their targets. */
export async function writeDeferred(move: Move, ordered: OrderedCollection, moved: MovedCollection): Promise<void> {
  const { state, source, address, isSilent } = move;
  const { collection, deferred } = ordered;
  const { from, to } = collection;
  const read = createReader(move, ordered, move.losses.silent);
  const kept = new Set(moved.kept_here);
  const ids = [...state.waitingRows(from.name)].flatMap(({ id }) => (kept.has(id) ? [] : [id]));
  if (ids.length > 0) {
    const rows = function* (): Generator<ImportBody> {
      for (const id of ids) {
        const row = source.findRow(from.name, id);
        if (!row) continue;
        const { body } = read(row);
        yield { id, ...Object.fromEntries(deferred.map((name) => [name, body[name]])) };
      }
    };
    state.notePending(from.name, ids);
    const refused = await importRows(move, { collection: to.name, mode: 'upsert', keep: 'id', isSilent, rows });
    state.noteUpdated(from.name, await readUpdated(address, to.name, ids));
    noteRefused(moved, refused);
  }
  state.endWaiting(from.name);
}

/** Deletes the records that PocketBase no longer has, unless they were changed here. */
export async function deleteGone(move: Move, { collection }: OrderedCollection, moved: MovedCollection): Promise<void> {
  const { state, address } = move;
  const { from, to } = collection;
  const { free, kept, updated } = await sortOut(move, to.name, [...state.goneRows(from.name)]);
  const gone = kept.filter((id) => !updated.has(id));
  moved.kept_here.push(...kept.filter((id) => updated.has(id)));
  for (const { id } of free) {
    try {
      await callApi(address, 'DELETE', `/api/v1/records/${encodeURIComponent(to.name)}/${encodeURIComponent(id)}`);
      gone.push(id);
      moved.deleted += 1;
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      if (error.status === 404) gone.push(id);
      else noteRefused(moved, [{ id, reasons: { _row: `cannot be deleted: ${error.message}` } }]);
    }
  }
  state.forget(from.name, gone);
}

function noteRefused(moved: MovedCollection, refused: readonly RefusedRecord[]): void {
  moved.refused += refused.length;
  moved.refused_records.push(...refused.slice(0, Math.max(maxListed - moved.refused_records.length, 0)));
}
