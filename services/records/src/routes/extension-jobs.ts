import { recordAudit } from '@recordbus/audit';
import type { Database, Query } from '@recordbus/database';
import { conflict, notFound } from '@recordbus/errors';
import { exactText, ok, page, pageOf, pageQuery, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import {
  cancelExtensionJob,
  findExtensionJob,
  listExtensionJobs,
  runExtensionJob,
} from '../extensions/jobs/admin-jobs.ts';
import { extensionJob, extensionJobDetails, extensionJobStates } from '../extensions/jobs/extension-job.ts';

interface ExtensionJobDeps {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  wakeJobs(): void;
}

const path = '/api/v1/admin/extension-jobs';
const params = z.object({ id: z.string() });
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function getJob(query: Query, id: string): Promise<z.output<typeof extensionJobDetails>> {
  const job = uuid.test(id) ? await findExtensionJob(query, id) : undefined;
  if (!job) throw notFound('job');
  return job;
}

/** The extensions' jobs, for admins. */
export const extensionJobRoutes = (deps: ExtensionJobDeps): Route[] => [
  route({
    method: 'GET',
    path,
    access: 'admin',
    scope: 'admin',
    summary: "List extensions' jobs, newest first",
    query: pageQuery.extend({
      state: z.enum(extensionJobStates).optional(),
      extension: exactText,
      name: exactText.describe("a job's full name, `<extension>.<name>`"),
      key: exactText,
    }),
    answers: { 200: pageOf(extensionJob), 400: 'a parameter is invalid' },
    async handler({ query }) {
      const { rows, totalItems } = await listExtensionJobs(deps.database.query, query);
      return page(rows, { page: query.page, perPage: query.perPage, totalItems });
    },
  }),
  route({
    method: 'GET',
    path: `${path}/:id`,
    access: 'admin',
    scope: 'admin',
    summary: "Read an extension's job, with its input",
    params,
    answers: { 200: extensionJobDetails, 404: 'no such job' },
    handler: async ({ params: { id } }) => ok(await getJob(deps.database.query, id)),
  }),
  commandRoute(deps, {
    command: 'run',
    summary: 'Run a job now that waits, is dead or was cancelled',
    refusal: 'the job runs or is done, or another one with its key waits',
    change: runExtensionJob,
  }),
  commandRoute(deps, {
    command: 'cancel',
    summary: 'Cancel a job that waits or runs',
    refusal: 'the job has ended',
    change: cancelExtensionJob,
  }),
];

interface Command {
  readonly command: 'run' | 'cancel';
  readonly summary: string;
  /** When it is a conflict. */
  readonly refusal: string;
  readonly change: typeof runExtensionJob;
}

const commandRoute = (
  { database, wakeJobs }: ExtensionJobDeps,
  { command, summary, refusal, change }: Command,
): Route =>
  route({
    method: 'POST',
    path: `${path}/:id/${command}`,
    access: 'admin',
    scope: 'admin',
    summary,
    params,
    answers: { 200: extensionJob, 404: 'no such job', 409: refusal },
    async handler({ params: { id }, context, header }) {
      const job = await getJob(database.query, id);
      const changed = await database.transaction(async (query) => {
        const row = await change(query, job.id);
        if (!row) return undefined;
        const target = { type: 'extension_job', id: job.id };
        await recordAudit(query, {
          action: `extension_jobs.${command}`,
          context,
          userAgent: header('user-agent'),
          target,
          details: { name: job.name },
        });
        return row;
      });
      if (!changed) {
        const { state } = await getJob(database.query, id);
        throw conflict('job_state', `a job that is ${state} cannot be asked to ${command}`);
      }
      wakeJobs();
      return ok(changed);
    },
  });
