import { recordAudit } from '@recordbus/audit';
import type { Database, Query } from '@recordbus/database';
import { conflict, forbidden, notFound } from '@recordbus/errors';
import { ok, otherContent, page, pageOf, pageQuery, type Route, route, withHeaders } from '@recordbus/http';
import type { Principal } from '@recordbus/request/context';
import { isAdmin, rightsOf } from '@recordbus/request/key-rights';
import type { Storage } from '@recordbus/storage';
import { z } from 'zod';
import { type Job, jobStates, shownJob } from '../jobs/job.ts';
import { commandJob, findJob, type JobCommand } from '../jobs/job-store.ts';
import { showOwnData } from '../own-data/own-data.ts';
import { passesRules } from '../rules/rule-context.ts';
import type { ImportOptions } from '../transfer/import/import-options.ts';
import { openRefusedRows, refusedContentTypes } from '../transfer/import/refused-rows.ts';
import { showImport } from '../transfer/import/start-import.ts';
import { findOwnJob, findShownDataJob, listShownJobs } from './shown-jobs.ts';

interface JobRoutesDeps {
  readonly database: Database;
  readonly storage: Storage;
  wakeJobs(): void;
}

const params = z.object({ id: z.string() });

const path = '/api/v1/jobs';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Finds a job. Throws 404; a key sees the jobs for collections that it may write (keys §5.7). */
async function getJob(query: Query, id: string, principal: Principal): Promise<Job<ImportOptions>> {
  const job = uuid.test(id) ? await findJob(query, id) : undefined;
  if (!job || !passesRules({ principal }, { name: job.collection_name }, 'write')) throw notFound('job');
  return job as Job<ImportOptions>;
}

/** The job routes, for admins. */
export const jobRoutes = (deps: JobRoutesDeps): Route[] => {
  const { query } = deps.database.of('admin');
  return [
    route({
      method: 'GET',
      path,
      access: 'admin',
      scope: 'records',
      action: 'list',
      summary: 'List jobs, newest first',
      query: pageQuery.extend({
        state: z.enum(jobStates).optional(),
        collection: z.string().max(63).optional().describe('jobs for this collection'),
      }),
      answers: { 200: pageOf(shownJob), 400: 'a parameter is invalid' },
      async handler({ query: { page: number, perPage, state, collection }, context: { principal } }) {
        const shown = { page: number, perPage, state, collection, collections: writableBy(principal) };
        const { rows, totalItems } = await listShownJobs(query, { ...shown, hasDataJobs: isAdmin(principal) });
        return page(rows, { page: number, perPage, totalItems });
      },
    }),
    route({
      method: 'GET',
      path: `${path}/:id`,
      access: 'session',
      scope: 'records',
      action: 'view',
      summary: "Read a job's state; users read their own exports",
      params,
      answers: { 200: shownJob, 404: 'no such job' },
      async handler({ params: { id }, context: { principal } }) {
        if (principal.type === 'user') {
          const own = await findOwnJob(query, id, principal);
          if (!own) throw notFound('job');
          return ok(showOwnData(own));
        }
        const dataJob = uuid.test(id) && isAdmin(principal) ? await findShownDataJob(query, id) : undefined;
        return ok(dataJob ?? showImport(await getJob(query, id, principal)));
      },
    }),
    route({
      method: 'GET',
      path: `${path}/:id/refused`,
      access: 'admin',
      scope: 'records',
      action: 'view',
      summary: "Download a job's refused rows, with the reasons",
      params,
      answers: {
        200: withHeaders(otherContent('*/*', "the rows, in the import's format"), {
          'Content-Disposition': 'A name for the file',
        }),
        404: 'no such job',
        410: "the job's body is gone",
      },
      async handler({ params: { id }, context }) {
        const job = await getJob(query, id, context.principal);
        const { format } = job.options;
        const headers = {
          'Content-Type': refusedContentTypes[format],
          'Content-Disposition': `attachment; filename="refused-${job.id}.${format}"`,
          'Cache-Control': 'no-store',
        };
        return { status: 200, headers, openStream: async () => openRefusedRows({ ...deps, query }, job) };
      },
    }),
    ...commands.map(([command, summary]) => commandRoute(deps, command, summary)),
  ];
};

const commands: readonly (readonly [JobCommand, string])[] = [
  ['pause', 'Pause a job; what it has done stays'],
  ['resume', 'Continue a paused job'],
  ['cancel', 'End a job for good; what it has done stays'],
];

const commandRoute = ({ database, wakeJobs }: JobRoutesDeps, command: JobCommand, summary: string): Route =>
  route({
    method: 'POST',
    path: `${path}/:id/${command}`,
    access: 'admin',
    scope: 'records',
    action: 'update',
    summary,
    params,
    answers: {
      200: shownJob,
      403: 'the job belongs to another admin',
      404: 'no such job',
      409: "the job's state does not allow it",
    },
    async handler({ params: { id }, context, header }) {
      const own = database.of('admin');
      if (uuid.test(id) && isAdmin(context.principal) && (await findShownDataJob(own.query, id)))
        throw conflict('job_state', 'only an import can be asked to');
      const job = await getJob(own.query, id, context.principal);
      await requireOwner(own.query, job, context.principal);
      const changed = await own.transaction(async (query) => {
        const row = await commandJob(query, job.id, command);
        if (!row) return undefined;
        const target = { type: 'job', id: job.id };
        await recordAudit(query, { action: `jobs.${command}`, context, userAgent: header('user-agent'), target });
        return row;
      });
      if (!changed) {
        const { state } = await getJob(own.query, id, context.principal);
        throw conflict('job_state', `a job that is ${state} cannot be asked to ${command}`);
      }
      wakeJobs();
      return ok(showImport(changed as Job<ImportOptions>));
    },
  });

/** The collections whose jobs the caller sees; undefined for all. */
const writableBy = (principal: Principal): readonly string[] | undefined =>
  principal.type === 'service' ? rightsOf(principal.scopes).collectionsToWrite : undefined;

/** Throws 403 for another admin's or key's job while that owner exists. Admins may control keys' jobs. */
async function requireOwner(query: Query, { actor }: Job, principal: Principal): Promise<void> {
  if ('id' in principal && principal.type === actor.type && principal.id === actor.id) return;
  if (actor.type === 'service' && isAdmin(principal)) return;
  const table = actor.type === 'admin' ? 'system.admins' : 'system.service_keys';
  const owners = await query({ text: `select from ${table} where id = $1`, values: [actor.id] });
  if (owners.length > 0) throw forbidden('the job belongs to another admin or key');
}
