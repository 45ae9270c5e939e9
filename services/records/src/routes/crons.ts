import { recordAudit } from '@recordbus/audit';
import type { Database } from '@recordbus/database';
import { notFound } from '@recordbus/errors';
import { ok, page, pageOf, pageQuery, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import { cronRun, findLastRuns, listRuns } from '../crons/cron-runs.ts';
import type { Crons } from '../crons/crons.ts';

interface CronDeps {
  readonly database: Database;
  /** The product's crons, and the extensions' if there are any. */
  readonly all: () => readonly Crons[];
}

const cron = z
  .object({
    name: z.string(),
    extension: z.string().nullable().describe("null for the product's own"),
    schedule: z.string(),
    time_zone: z.string(),
    missed: z.enum(['skip', 'run once']),
    timeout_ms: z.number(),
    next_run_at: z.number().nullable(),
    last_run: cronRun.nullable(),
  })
  .meta({ id: 'Cron' });

const params = z.object({ name: z.string() });

const seconds = (date: Date | null): number | null => date && Math.floor(date.getTime() / 1000);

/** The crons of the product and of the extensions, for admins. */
export const cronRoutes = ({ database, all }: CronDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/v1/admin/crons',
    access: 'admin',
    scope: 'admin',
    summary: 'List crons',
    answers: { 200: z.array(cron) },
    async handler() {
      const crons = all().flatMap((one) => one.crons);
      const lastRuns = await findLastRuns(
        database.query,
        crons.map(({ fullName }) => fullName),
      );
      return ok(
        crons.map(({ fullName, extension, schedule, timeZone, missed, timeoutMs, nextRunAt }) => ({
          name: fullName,
          extension,
          schedule,
          time_zone: timeZone,
          missed,
          timeout_ms: timeoutMs,
          next_run_at: seconds(nextRunAt),
          last_run: lastRuns.get(fullName) ?? null,
        })),
      );
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/admin/crons/:name/runs',
    access: 'admin',
    scope: 'admin',
    summary: "List a cron's runs, newest first",
    params,
    query: pageQuery,
    answers: { 200: pageOf(cronRun), 404: 'no such cron' },
    async handler({ params: { name }, query }) {
      findCrons(all(), name);
      const { rows, totalItems } = await listRuns(database.query, name, query);
      return page(rows, { page: query.page, perPage: query.perPage, totalItems });
    },
  }),
  route({
    method: 'POST',
    idempotent: true,
    path: '/api/v1/admin/crons/:name/run',
    access: 'admin',
    scope: 'admin',
    summary: 'Start a cron run',
    params,
    answers: { 202: cronRun, 404: 'no such cron', 409: 'the cron is running' },
    async handler({ params: { name }, context, header }) {
      const run = await findCrons(all(), name).runNow(name);
      const target = { type: 'cron', id: name };
      await recordAudit(database.query, { action: 'crons.run', context, userAgent: header('user-agent'), target });
      return { status: 202, body: { data: run } };
    },
  }),
];

/** Finds the crons that have one with the name. Throws 404. */
function findCrons(all: readonly Crons[], name: string): Crons {
  const found = all.find(({ crons }) => crons.some(({ fullName }) => fullName === name));
  if (!found) throw notFound('cron');
  return found;
}
