import { type Route, route } from '@recordbus/http';
import { z } from 'zod';
import { showErasure } from '../erasure/erasure.ts';
import { type StartErasureDeps, startErasure } from '../erasure/start-erasure.ts';
import { shownJob } from '../jobs/job.ts';
import { recordParams } from './record-paths.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

interface EraseRouteDeps extends StartErasureDeps {
  readonly records: RouteDeps;
  wakeJobs(): void;
}

const body = z.strictObject({
  history: z.enum(['purge', 'redact']).default('purge').describe('whether versions go, or stay without their values'),
  files: z.boolean().default(true).describe("whether the job waits until the files' bytes are gone"),
  dry_run: z.boolean().default(false).describe('count everything, erase nothing'),
});

/** `POST /api/v1/admin/erase/<col>/<id>` (privacy §2). */
export const eraseRoute = ({ records, wakeJobs, ...deps }: EraseRouteDeps): Route =>
  route({
    method: 'POST',
    idempotent: true,
    path: '/api/v1/admin/erase/:collection/:id',
    access: 'admin',
    scope: 'admin',
    summary: 'Erase a record, its cascades and all that is stored about them, as a job',
    params: recordParams,
    body,
    answers: {
      202: shownJob,
      404: 'no such collection, or nothing is stored about such a record',
      405: 'a view collection has no records of its own',
    },
    admit: admitTo('delete', records),
    handler: (input) =>
      records.collections.serve(requestOf('delete', input), async (collection) => {
        const { params, body: options, context, header } = input;
        const userAgent = header('user-agent');
        const job = await startErasure(deps, { collection, id: params.id, options, context, userAgent });
        wakeJobs();
        return { status: 202, body: { data: showErasure(job) } };
      }),
  });
