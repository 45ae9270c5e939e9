import { DatabaseSync } from 'node:sqlite';
import { CommandFailure } from '@recordbus/stack-calls';

/** A record that a run may write or delete. */
export interface NotedRow {
  readonly id: string;
  /** The record's `updated` here after the last run wrote it. */
  readonly updated: number;
  /** Whether a run was about to change it and did not note the end. */
  readonly isPending: boolean;
}

/** A file that has to be sent. */
export interface NotedFile {
  readonly record: string;
  readonly source: string;
  readonly name: string;
}

/** What has moved in so far: a file next to the data directory, so that a run continues or follows another one. */
export interface MoveState {
  /** Which definition a collection had in PocketBase when it was taken; undefined for one that was not. */
  definitionOf(collection: string): string | undefined;
  noteDefinition(collection: string, digest: string): void;
  /** Notes the rows that the source has now. `rows` is read once. */
  noteRows(collection: string, rows: Iterable<SeenRow>): void;
  /** Rows that the source has and the target lacks, as far as is known. */
  newRows(collection: string): IterableIterator<NotedRow>;
  /** New rows that a killed run may have written with other values. */
  outdatedRows(collection: string): IterableIterator<NotedRow>;
  /** Notes that all new rows are being sent. */
  noteSent(collection: string): void;
  changedRows(collection: string): IterableIterator<NotedRow>;
  goneRows(collection: string): IterableIterator<NotedRow>;
  /** Notes that the target has what the source had, for all rows or for some. */
  noteMoved(collection: string, ids: Iterable<string>): void;
  noteAllNewMoved(collection: string, exceptIds: ReadonlySet<string>): void;
  /** Notes that records are about to be changed, so that their new time is not taken for a change made here. */
  notePending(collection: string, ids: Iterable<string>): void;
  noteUpdated(collection: string, updated: ReadonlyMap<string, number>): void;
  /** Notes that the new and changed rows have relations that wait for their targets. */
  noteWaiting(collection: string): void;
  /** The rows whose relations wait. */
  waitingRows(collection: string): IterableIterator<NotedRow>;
  endWaiting(collection: string): void;
  forget(collection: string, ids: Iterable<string>): void;
  count(collection: string): {
    readonly all: number;
    readonly fresh: number;
    readonly changed: number;
    readonly gone: number;
  };
  /** The rows that the target has as the source has them. */
  movedRows(collection: string): IterableIterator<NotedRow>;
  /** The digest of an account's key that was sent; undefined without one. */
  keyOf(collection: string, id: string): string | undefined;
  noteKeys(collection: string, digests: ReadonlyMap<string, string>): void;
  /** The import job that an earlier run followed when it was killed. */
  leftJob(): string | undefined;
  /** Notes the import job that this run follows; undefined when it has ended. */
  noteJob(id: string | undefined): void;
  /** Files to send, whose records the target has. */
  waitingFiles(collection: string): IterableIterator<NotedFile>;
  /** Files to send once the target has all records that the source has now. */
  unsentFiles(collection: string): IterableIterator<NotedFile>;
  noteFile(collection: string, file: NotedFile): void;
}

/** A row of the source, as it would be written. */
export interface SeenRow {
  readonly id: string;
  readonly digest: string;
  readonly updated: number;
  readonly files: readonly { readonly from: string; readonly to: string }[];
}

const schema = `
create table if not exists about (name text primary key, value text not null) strict;
create table if not exists collections (name text primary key, digest text not null) strict;
create table if not exists rows (
  collection text not null, id text not null,
  moved text, seen text, updated integer not null, seen_updated integer not null, run integer not null,
  is_pending integer not null default 0, is_waiting integer not null default 0,
  primary key (collection, id)
) strict, without rowid;
create table if not exists files (
  collection text not null, record text not null, name text not null, source text not null, is_sent integer not null default 0,
  primary key (collection, record, name)
) strict, without rowid;
create table if not exists sent (
  collection text not null, id text not null, digest text not null, primary key (collection, id)
) strict, without rowid;
create table if not exists keys (
  collection text not null, id text not null, digest text not null, primary key (collection, id)
) strict, without rowid;`;

/** What an interrupted run sent of a row that was new to it: its digest, or '' when that is unknown. */
const sentDigest = '(select s.digest from sent s where s.collection = rows.collection and s.id = rows.id)';
const isNew = `run = ?2 and moved is null and coalesce(${sentDigest}, seen) = seen`;
const isOutdated = `run = ?2 and moved is null and ${sentDigest} <> seen`;

/** Opens the notes of earlier runs, or begins them. They belong to one target. */
export function openState(path: string, target: string): MoveState & { close(): void } {
  const database = new DatabaseSync(path);
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  database.exec(schema);
  const known = database.prepare("select value from about where name = 'target'").get()?.value;
  if (known !== undefined && known !== target)
    throw new CommandFailure(`${path} is about a move into ${String(known)}: name another file with --state.`);
  database.prepare("insert or ignore into about values ('target', ?)").run(target);
  const run = Date.now();
  const together = (work: () => void): void => {
    database.exec('begin immediate');
    try {
      work();
      database.exec('commit');
    } catch (error) {
      database.exec('rollback');
      throw error;
    }
  };
  const list = (where: string) => (collection: string) => listRows(database, where, collection, run);
  const listFiles = (where: string) => (collection: string) => listUnsent(database, where, collection, run);
  const one = database.prepare('select digest from collections where name = ?');
  const key = database.prepare('select digest from keys where collection = ? and id = ?');
  return {
    definitionOf(collection) {
      const digest = one.get(collection)?.digest;
      return digest === undefined ? undefined : String(digest);
    },
    noteDefinition(collection, digest) {
      database.prepare('insert or replace into collections values (?, ?)').run(collection, digest);
    },
    noteRows(collection, rows) {
      const row =
        database.prepare(`insert into rows (collection, id, seen, updated, seen_updated, run) values (?, ?, ?, ?, ?, ?)
        on conflict do update set seen = excluded.seen, seen_updated = excluded.seen_updated, run = excluded.run`);
      const file = database.prepare(
        'insert or ignore into files (collection, record, name, source) values (?, ?, ?, ?)',
      );
      together(() => {
        for (const { id, digest, updated, files } of rows) {
          row.run(collection, id, digest, updated, updated, run);
          for (const { from, to } of files) file.run(collection, id, to, from);
        }
      });
    },
    newRows: list(isNew),
    outdatedRows: list(isOutdated),
    noteSent(collection) {
      together(() => {
        database
          .prepare(`update sent set digest = '' where collection = ?1 and exists (
          select 1 from rows where rows.collection = ?1 and rows.id = sent.id and ${isOutdated})`)
          .run(collection, run);
        database
          .prepare(`update rows set updated = seen_updated where collection = ?1 and run = ?2 and moved is null
          and ${sentDigest} is null`)
          .run(collection, run);
        database
          .prepare(`insert or ignore into sent select collection, id, seen from rows
          where collection = ?1 and run = ?2 and moved is null`)
          .run(collection, run);
      });
    },
    changedRows: list('run = ?2 and moved <> seen'),
    goneRows: list('run <> ?2'),
    noteMoved(collection, ids) {
      const moved = database.prepare('update rows set moved = seen where collection = ? and id = ?');
      together(() => {
        for (const id of ids) moved.run(collection, id);
      });
    },
    noteAllNewMoved(collection, exceptIds) {
      const back = database.prepare('update rows set moved = null where collection = ? and id = ?');
      together(() => {
        database
          .prepare(`update rows set moved = seen, updated = seen_updated where collection = ?1 and ${isNew}`)
          .run(collection, run);
        for (const id of exceptIds) back.run(collection, id);
        database
          .prepare(`delete from sent where collection = ?1 and not exists (
            select 1 from rows where rows.collection = ?1 and rows.id = sent.id and moved is null)`)
          .run(collection);
      });
    },
    notePending(collection, ids) {
      const pending = database.prepare('update rows set is_pending = 1 where collection = ? and id = ?');
      together(() => {
        for (const id of ids) pending.run(collection, id);
      });
    },
    noteUpdated(collection, updated) {
      const note = database.prepare('update rows set updated = ?, is_pending = 0 where collection = ? and id = ?');
      together(() => {
        for (const [id, seconds] of updated) note.run(seconds, collection, id);
      });
    },
    noteWaiting(collection) {
      database
        .prepare('update rows set is_waiting = 1 where collection = ? and run = ? and moved is not seen')
        .run(collection, run);
    },
    waitingRows: list('is_waiting = 1'),
    endWaiting(collection) {
      database.prepare('update rows set is_waiting = 0 where collection = ?').run(collection);
    },
    forget(collection, ids) {
      const rows = database.prepare('delete from rows where collection = ? and id = ?');
      const files = database.prepare('delete from files where collection = ? and record = ?');
      const sent = database.prepare('delete from sent where collection = ? and id = ?');
      together(() => {
        for (const id of ids) {
          rows.run(collection, id);
          files.run(collection, id);
          sent.run(collection, id);
        }
      });
    },
    count(collection) {
      const read = database
        .prepare(`select count(*) filter (where run = ?2) as everything, count(*) filter (where run = ?2 and moved is null) as fresh,
          count(*) filter (where run = ?2 and moved <> seen) as changed, count(*) filter (where run <> ?2) as gone
          from rows where collection = ?1`)
        .get(collection, run);
      const number = (name: string) => Number(read?.[name] ?? 0);
      return { all: number('everything'), fresh: number('fresh'), changed: number('changed'), gone: number('gone') };
    },
    movedRows: list('run = ?2 and moved = seen'),
    keyOf(collection, id) {
      const digest = key.get(collection, id)?.digest;
      return digest === undefined ? undefined : String(digest);
    },
    noteKeys(collection, digests) {
      const note = database.prepare('insert or replace into keys values (?, ?, ?)');
      together(() => {
        for (const [id, digest] of digests) note.run(collection, id, digest);
      });
    },
    leftJob() {
      const id = database.prepare("select value from about where name = 'job'").get()?.value;
      return id === undefined ? undefined : String(id);
    },
    noteJob(id) {
      if (id === undefined) database.exec("delete from about where name = 'job'");
      else database.prepare("insert or replace into about values ('job', ?)").run(id);
    },
    waitingFiles: listFiles('r.moved = r.seen'),
    unsentFiles: listFiles('r.run = ?2'),
    noteFile(collection, { record, name }) {
      database
        .prepare('update files set is_sent = 1 where collection = ? and record = ? and name = ?')
        .run(collection, record, name);
    },
    close: () => database.close(),
  };
}

function* listRows(database: DatabaseSync, where: string, collection: string, run: number): IterableIterator<NotedRow> {
  const rows = database.prepare(`select id, updated, is_pending from rows
    where collection = ?1 and (?2 is not null) and ${where} order by id`);
  for (const { id, updated, is_pending: isPending } of rows.iterate(collection, run))
    yield { id: String(id), updated: Number(updated), isPending: isPending === 1 };
}

function* listUnsent(
  database: DatabaseSync,
  where: string,
  collection: string,
  run: number,
): IterableIterator<NotedFile> {
  const rows = database.prepare(`select f.record, f.source, f.name from files f
    join rows r on r.collection = f.collection and r.id = f.record
    where f.collection = ?1 and (?2 is not null) and f.is_sent = 0 and ${where}`);
  for (const { record, source, name } of rows.iterate(collection, run))
    yield { record: String(record), source: String(source), name: String(name) };
}
