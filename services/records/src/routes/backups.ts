import { recordAudit } from '@recordbus/audit';
import type { Database } from '@recordbus/database';
import { AppError, conflict, validationFailed } from '@recordbus/errors';
import { ok, otherContent, page, pageOf, pageQuery, type Reply, type Route, route, withHeaders } from '@recordbus/http';
import type { Storage } from '@recordbus/storage';
import { z } from 'zod';
import { archiveKey, type Backup, getBackup, listBackups, shownBackup } from '../backups/backup-rows.ts';
import type { Backups } from '../backups/backups.ts';
import { readByteRange } from '../files/byte-range.ts';

interface BackupRoutesDeps {
  readonly database: Database;
  readonly backups: Backups;
  readonly archives: Storage;
}

const params = z.object({ id: z.string() });

const path = '/api/v1/admin/backups';

/** Higher than any disk. The handler refuses archives for which there is no room. */
const bodyLimitBytes = 2 ** 50;

const own = { access: 'admin', scope: 'admin' } as const;

/** The backup routes, for admins and keys with the scope `admin` (operation §9.6). */
export const backupRoutes = ({ database, backups, archives }: BackupRoutesDeps): Route[] => [
  route({
    ...own,
    method: 'GET',
    path,
    summary: 'List the backups that were made through the API or uploaded, newest first',
    query: pageQuery,
    answers: { 200: pageOf(shownBackup) },
    async handler({ query: { page: number, perPage } }) {
      await backups.tidy();
      const { rows, totalItems } = await listBackups(database.query, { page: number, perPage });
      return page(rows, { page: number, perPage, totalItems });
    },
  }),
  route({
    ...own,
    method: 'POST',
    idempotent: true,
    path,
    summary: 'Start a backup, which continues after the answer',
    body: z.strictObject({}),
    answers: {
      202: shownBackup,
      409: 'a backup or another command runs, too many archives are kept, or the database is behind a pooler',
    },
    async handler({ context, header }) {
      const data = await backups.start({ context, userAgent: header('user-agent') });
      return { status: 202, body: { data } };
    },
  }),
  route({
    ...own,
    method: 'POST',
    idempotent: true,
    path: `${path}/upload`,
    summary: 'Upload an archive, which is checked after the answer',
    streamedBody: { 'application/gzip': { type: 'string', format: 'binary' } },
    bodyLimitBytes,
    answers: {
      202: shownBackup,
      408: 'the archive arrived too slowly',
      409: 'a backup or another command runs, too many archives are kept, or the database is behind a pooler',
      413: 'there is no room for the archive',
      422: 'the body is not an archive',
    },
    async handler({ stream, context, header }) {
      if (!stream) throw validationFailed({ body: 'is required: the archive' });
      const data = await backups.upload(stream, { context, userAgent: header('user-agent') });
      return { status: 202, body: { data } };
    },
  }),
  route({
    ...own,
    method: 'GET',
    path: `${path}/:id`,
    summary: "Read a backup's state",
    params,
    answers: { 200: shownBackup, 404: 'no such backup' },
    async handler(input) {
      await backups.tidy();
      return ok(await getBackup(database.query, input.params.id));
    },
  }),
  route({
    ...own,
    method: 'DELETE',
    path: `${path}/:id`,
    summary: 'Delete a backup with its archive; a running backup ends',
    params,
    answers: { 200: z.null(), 404: 'no such backup' },
    async handler({ params: { id }, context, header }) {
      const backup = await getBackup(database.query, id);
      const target = { type: 'backup', id: backup.id };
      await recordAudit(database.query, { action: 'backups.delete', context, userAgent: header('user-agent'), target });
      await backups.remove(backup);
      return ok(null);
    },
  }),
  route({
    ...own,
    method: 'GET',
    path: `${path}/:id/archive`,
    summary: "Download a backup's archive",
    params,
    requestHeaders: {
      Range: 'the bytes to return',
      'If-Range': 'the ETag of the archive that the caller has partly downloaded',
    },
    answers: {
      200: withHeaders(otherContent('application/gzip', 'the archive'), archiveHeaders),
      206: withHeaders(otherContent('application/gzip', "the range's bytes"), {
        ...archiveHeaders,
        'Content-Range': "This answer's bytes, and the archive's size",
      }),
      404: 'no such backup',
      409: 'the backup is not complete',
      410: 'the archive is no longer in the store',
      416: 'the range lies beyond the archive',
    },
    async handler({ params: { id }, context, header, isHead }) {
      const backup = await getBackup(database.query, id);
      if (backup.state !== 'done') throw conflict('backup_incomplete', 'the backup has no archive: it is not complete');
      const found = await archives.find(archiveKey(backup));
      if (!found) throw new AppError(410, 'archive_gone', "the backup's archive is no longer in the store");
      const reply = download(archives, backup, { header, isHead, ...found });
      const target = { type: 'backup', id: backup.id };
      if (!isHead)
        await recordAudit(database.query, {
          action: 'backups.download',
          context,
          userAgent: header('user-agent'),
          target,
        });
      return reply;
    },
  }),
];

const archiveHeaders = { ETag: "The archive's ETag", 'Content-Disposition': 'A name for the file' };

interface Download {
  readonly sizeBytes: number;
  readonly isHead: boolean;
  header(name: string): string | undefined;
}

function download(archives: Storage, backup: Backup, { sizeBytes, isHead, header }: Download): Reply {
  const etag = `"${backup.id}"`;
  const condition = header('if-range');
  const isRange = !isHead && (condition === undefined || condition.trim() === etag);
  const range = isRange ? readByteRange(header('range'), sizeBytes) : undefined;
  if (range === 'unsatisfiable')
    throw new AppError(416, 'range_not_satisfiable', `the archive has ${sizeBytes} bytes`, {
      headers: { 'Content-Range': `bytes */${sizeBytes}` },
    });
  const openStream = async () => {
    const stream = await archives.open(archiveKey(backup), range);
    if (!stream) throw new AppError(410, 'archive_gone', "the backup's archive is no longer in the store");
    return stream;
  };
  const { start, end } = range ?? { start: 0, end: sizeBytes - 1 };
  const headers = {
    ETag: etag,
    'Cache-Control': 'private, no-store',
    'Accept-Ranges': 'bytes',
    'Content-Type': 'application/gzip',
    'Content-Disposition': `attachment; filename="${backup.file}"`,
    'Content-Length': String(end - start + 1),
    ...(range && { 'Content-Range': `bytes ${start}-${end}/${sizeBytes}` }),
  };
  return { status: range ? 206 : 200, headers, openStream };
}
