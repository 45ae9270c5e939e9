import { recordAudit } from '@recordbus/audit';
import { restoreNote } from '@recordbus/backup/restore-note';
import type { Database } from '@recordbus/database';
import { conflict, notFound, validationFailed } from '@recordbus/errors';
import { ok, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import { getBackup } from '../backups/backup-rows.ts';
import type { Restores } from '../backups/restores.ts';

interface RestoreRoutesDeps {
  readonly database: Database;
  readonly restores: Restores;
}

const params = z.object({ id: z.string() });

/** The restore routes (operation §9.7). */
export const restoreRoutes = ({ database, restores }: RestoreRoutesDeps): Route[] => [
  route({
    access: 'admin',
    scope: 'admin',
    method: 'GET',
    path: '/api/v1/admin/restores',
    summary: 'Read whether this stack can restore a backup, and the newest restore',
    answers: { 200: z.object({ available: z.boolean(), last: restoreNote.nullable() }) },
    handler: () => ok({ available: restores.isAvailable, last: restores.find() ?? null }),
  }),
  route({
    // The restored deployment may not know the admin. The id is a secret that only the restore's answer has.
    access: 'public',
    scope: 'none',
    method: 'GET',
    path: '/api/v1/admin/restores/:id',
    summary: 'Follow a restore by its id, without a session',
    params,
    answers: { 200: restoreNote, 404: 'no such restore, or not the newest' },
    handler(input) {
      const note = restores.find();
      if (note?.id !== input.params.id) throw notFound('restore');
      return ok(note);
    },
  }),
  route({
    access: 'admin',
    scope: 'admin',
    method: 'POST',
    idempotent: true,
    path: '/api/v1/admin/backups/:id/restore',
    summary: 'Restore a backup: the stack stops, everything is replaced, the stack starts again',
    params,
    body: z.strictObject({ file: z.string().max(200).describe("the archive's name, as a confirmation") }),
    answers: {
      202: restoreNote,
      404: 'no such backup',
      409: 'the backup is not complete, another restore is not over, or each service is started by itself',
      422: "the name is not the archive's",
    },
    async handler({ params: { id }, body: { file }, context, header }) {
      const backup = await getBackup(database.query, id);
      if (backup.state !== 'done') throw conflict('backup_incomplete', 'the backup has no archive: it is not complete');
      if (file !== backup.file) throw validationFailed({ file: `must be ${backup.file}` });
      const data = await restores.order(backup);
      await recordAudit(database.query, {
        action: 'backups.restore',
        context,
        userAgent: header('user-agent'),
        target: { type: 'backup', id },
      });
      return { status: 202, body: { data } };
    },
  }),
];
