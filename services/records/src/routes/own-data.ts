import { hasAccounts } from '@recordbus/accounts';
import type { Database } from '@recordbus/database';
import { AppError, conflict, forbidden, notFound } from '@recordbus/errors';
import { otherContent, type Route, route, withHeaders } from '@recordbus/http';
import type { Principal } from '@recordbus/request/context';
import type { Storage } from '@recordbus/storage';
import { z } from 'zod';
import { archiveKey } from '../data-jobs/archive-store.ts';
import { shownJob } from '../jobs/job.ts';
import { type OwnDataJob, showOwnData } from '../own-data/own-data.ts';
import { startOwnData } from '../own-data/start-own-data.ts';
import { collectionParams } from './record-paths.ts';
import type { RouteDeps } from './route-deps.ts';
import { findOwnJob } from './shown-jobs.ts';

interface OwnDataRoutesDeps {
  readonly records: RouteDeps;
  readonly database: Database;
  readonly storage: Storage;
  wakeJobs(): void;
}

/** A user's own data as an archive (privacy §4). */
export const ownDataRoutes = ({ records, database, storage, wakeJobs }: OwnDataRoutesDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/auth/:collection/export',
    access: 'user',
    scope: 'none',
    summary: "Export the caller's own data into a ZIP, as a job; one at a time",
    params: collectionParams,
    answers: {
      202: shownJob,
      403: 'the token belongs to a user in another collection',
      404: 'no such auth collection',
    },
    async handler({ params, context, header, isHead }) {
      const { principal } = context;
      const collection = records.schema.findCollection(params.collection);
      if (!collection || !hasAccounts(collection)) throw notFound('collection');
      if (principal.type !== 'user' || principal.collection !== collection.name)
        throw forbidden('the token belongs to a user in another collection');
      // A HEAD changes nothing.
      if (isHead) return { status: 202 };
      const job = await startOwnData(database, collection, principal.id, {
        context,
        userAgent: header('user-agent'),
      });
      wakeJobs();
      return { status: 202, body: { data: showOwnData(job) } };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/jobs/:id/archive',
    access: 'session',
    scope: 'none',
    summary: "Download the archive of the caller's own data",
    params: z.object({ id: z.string() }),
    answers: {
      200: withHeaders(otherContent('application/zip', 'the archive'), {
        'Content-Disposition': 'A name for the file',
      }),
      404: 'no such export of the caller',
      409: 'the export is not done',
      410: 'the archive is gone',
    },
    async handler({ params: { id }, context }) {
      const job = await getOwnJob(database, id, context.principal);
      if (job.state !== 'done' || !job.result) throw conflict('job_state', `the export is ${job.state}`);
      const { name, bytes } = job.result;
      const key = archiveKey(job.id, name);
      if (!(await storage.find(key))) throw gone();
      const headers = {
        'Content-Type': 'application/zip',
        'Content-Length': String(bytes),
        'Content-Disposition': `attachment; filename="${job.collection_name}-${job.id}.zip"`,
        'Cache-Control': 'private, no-store',
      };
      const openStream = async () => {
        const stream = await storage.open(key);
        if (!stream) throw gone();
        return stream;
      };
      return { status: 200, headers, openStream };
    },
  }),
];

const gone = () => new AppError(410, 'archive_gone', 'the archive is gone');

async function getOwnJob({ query }: Database, id: string, principal: Principal): Promise<OwnDataJob> {
  const job = await findOwnJob(query, id, principal);
  if (!job) throw notFound('job');
  return job;
}
