import type { IncomingMessage } from 'node:http';
import { recordAudit } from '@recordbus/audit';
import { findProcessedSequence } from '@recordbus/backup';
import type { Bus } from '@recordbus/bus';
import { type Database, newId } from '@recordbus/database';
import { AppError, conflict, payloadTooLarge } from '@recordbus/errors';
import { declaredBodyBytes } from '@recordbus/http';
import { heartbeat } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import type { Storage } from '@recordbus/storage';
import type pg from 'pg';
import type { BackupPlace } from './backup-place.ts';
import {
  addBackup,
  archiveKey,
  type Backup,
  completeBackup,
  deleteBackup,
  endBackup,
  findBackup,
  listRunning,
  listSurplus,
  measureKept,
  noteBackup,
  removeOldFailures,
} from './backup-rows.ts';
import { openSession, reasonOf, sessionEnd, stopped } from './command-session.ts';
import { receiveArchive } from './receive-archive.ts';
import { backupsMaxBytes } from './room.ts';
import { type ArchiveInWork, writeArchive } from './write-archive.ts';

interface BackupsDeps {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly bus: Bus;
  readonly log: Logger;
  /** The upload store. */
  readonly storage: Storage;
  readonly place: BackupPlace;
}

/** The request that asks for a backup, or `system` for the schedule. */
export interface BackupOrigin {
  readonly context: Pick<RequestContext, 'principal' | 'clientAddress'> | 'system';
  readonly userAgent: string | undefined;
}

/** The backups that are made through the API. */
export interface Backups {
  /**
   * Starts a backup. Throws 409 while a backup or another command runs, if there is no room for another archive, and if
   * the database is behind a pooler.
   */
  start(origin: BackupOrigin): Promise<Backup>;
  /**
   * Stores an archive from a request's body, which is checked after the answer. Throws as `start` does, 413 beyond the
   * room, 408 and 422.
   */
  upload(stream: IncomingMessage, origin: BackupOrigin): Promise<Backup>;
  /** Makes the schedule's next backup, and deletes the schedule's oldest archives. A failure is in the list. */
  makeScheduled(kept: number): Promise<void>;
  /** Deletes a backup with its archive. A running backup ends. */
  remove(backup: Backup): Promise<void>;
  /** Ends backups whose replica was killed, and removes their remains. */
  tidy(): Promise<void>;
  /** Ends this replica's backup. */
  stop(): Promise<void>;
}

/** The maximum archive count: a stolen admin key must not fill the disk (operation §9.6). */
export const maxKept = 20;

/** How often the progress is noted, in milliseconds. */
const noteMs = 1000;

/** Creates a replica's backups. The command lock lets one run over all replicas and commands. */
export function createBackups({ database, bus, log, storage, place }: BackupsDeps): Backups {
  const { query } = database;
  const { archives } = place;
  let current: { readonly work: ArchiveInWork; readonly ended: Promise<void> } | undefined;

  async function start(origin: BackupOrigin): Promise<Backup> {
    const source = origin.context === 'system' ? 'schedule' : 'request';
    return withSession(async (client) => {
      const roomBytes = await findRoom();
      const processedUpTo = await findProcessedSequence(bus);
      const backup = await add(source, origin);
      const files = place.holdsFiles ? storage : undefined;
      const endSession = await sessionEnd(query, client);
      const target = { archives, key: archiveKey(backup), roomBytes, endSession };
      // Without the deployment's secrets: with a stolen admin session, an attacker must not be able to sign tokens.
      const work = writeArchive(client, target, { secret: undefined, key: undefined, files, processedUpTo });
      current = { work, ended: follow(backup, work, client, origin) };
      return backup;
    });
  }

  async function upload(stream: IncomingMessage, origin: BackupOrigin): Promise<Backup> {
    const { backup, stored, ended } = await withSession(async (client) => {
      const roomBytes = await findRoom();
      if (declaredBodyBytes(stream) > roomBytes) throw payloadTooLarge(roomBytes, 'the archive');
      const added = await add('upload', origin);
      const work = receiveArchive(stream, { archives, key: archiveKey(added), roomBytes });
      current = { work, ended: follow(added, work, client, origin) };
      return { backup: added, stored: work.stored, ended: current.ended };
    });
    try {
      await stored;
    } catch (error) {
      await ended;
      await deleteBackup(query, backup.id);
      throw error;
    }
    return (await findBackup(query, backup.id)) ?? backup;
  }

  /** Runs the beginning of a backup on a session, which `follow` ends. The session ends at once if it throws. */
  async function withSession<T>(begin: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = await openSession(place.databaseUrl);
    try {
      // The command lock is held, so two starts cannot both use the last room.
      for (const lost of await listRunning(query, 'all')) await settle(lost);
      return await begin(client);
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  function add(source: Backup['source'], { context }: BackupOrigin): Promise<Backup> {
    const file = `recordbus-${new Date().toISOString().replaceAll(/[-:]|\..*/g, '')}.tar.gz`;
    const actor = context === 'system' ? { type: 'system' } : context.principal;
    return addBackup(query, { id: newId(), source, file, actor });
  }

  async function makeScheduled(kept: number): Promise<void> {
    const origin = { context: 'system', userAgent: undefined } as const;
    try {
      // One goes before the next is made, since there may be no room for both.
      for (const surplus of await listSurplus(query, kept - 1)) await remove(surplus);
      await start(origin);
      await current?.ended;
    } catch (error) {
      const backup = await add('schedule', origin);
      log.warn({ backup: backup.id, err: error }, 'a scheduled backup did not start');
      const reason = error instanceof AppError ? error.message : reasonOf(error);
      await endBackup(query, backup.id, { error: reason, bytes: 0 });
    }
    await removeOldFailures(query);
  }

  async function remove(backup: Backup): Promise<void> {
    await deleteBackup(query, backup.id);
    // For a running backup this removes the draft, so it cannot be completed.
    await archives.delete(archiveKey(backup));
  }

  /** Returns how many bytes the next archive may have. Throws 409 if there is no room for one. */
  async function findRoom(): Promise<number> {
    const kept = await measureKept(query);
    if (kept.count >= maxKept)
      throw conflict('too_many_backups', `${maxKept} archives are kept: delete one before the next backup`);
    const maxBytes = await place.maxBytes(kept.bytes);
    if (kept.bytes < maxBytes) return maxBytes - kept.bytes;
    const takes = `the archives take ${kept.bytes} of the ${maxBytes} bytes that ${backupsMaxBytes.name} allows`;
    throw conflict('too_many_backups', `${takes}: delete one before the next backup, or raise it`);
  }

  /** Notes a backup's progress and its end. Never rejects. */
  async function follow(backup: Backup, work: ArchiveInWork, client: pg.Client, origin: BackupOrigin): Promise<void> {
    const { id } = backup;
    const endNotes = heartbeat(noteMs, async () => {
      if (!(await noteBackup(query, id, work.measured))) work.stop(new Error('the backup was deleted'));
    });
    try {
      const { tables, rows, files, missing_files, bytes, dataAtSec } = await work.done;
      const measured = { tables, rows, files, missing_files: missing_files.length, bytes, data_at: dataAtSec };
      const action = backup.source === 'upload' ? 'backups.upload' : 'backups.create';
      const details = backup.source === 'upload' ? { bytes } : { tables, rows, files, keys: false };
      const isWanted = await database.transaction(async (own) => {
        if (!(await completeBackup(own, id, measured))) return false;
        await recordAudit(own, { action, ...origin, target: { type: 'backup', id }, details });
        return true;
      });
      if (!isWanted) await archives.delete(archiveKey(backup));
      log.info({ backup: id, ...measured }, 'a backup is complete');
    } catch (err) {
      log.warn({ backup: id, err }, 'a backup failed');
      await settle(backup, reasonOf(err)).catch((failure) =>
        log.warn({ backup: id, err: failure }, 'cannot note a backup failure'),
      );
    } finally {
      endNotes();
      current = undefined;
      await client.end().catch(() => {});
    }
  }

  /** Ends a backup whose process has ended, possibly after the archive was complete. */
  async function settle(backup: Backup, error = stopped): Promise<void> {
    const key = archiveKey(backup);
    // Nobody has checked a lost upload.
    const found = backup.source === 'upload' ? undefined : await archives.find(key);
    // If there is no archive, there may be a draft.
    if (!found) await archives.delete(key);
    await endBackup(query, backup.id, { error: found ? null : error, bytes: found?.sizeBytes ?? 0 });
  }

  return {
    start,
    upload,
    makeScheduled,
    remove,
    async tidy() {
      for (const lost of await listRunning(query, 'lost')) await settle(lost);
    },
    async stop() {
      current?.work.stop(new Error('the service stops'));
      await current?.ended;
    },
  };
}
